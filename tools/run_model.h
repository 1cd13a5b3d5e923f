/* csrconv run MODEL: a whole network from a model file. */
#ifndef CSRCONV_TOOLS_RUN_MODEL_H
#define CSRCONV_TOOLS_RUN_MODEL_H

/* The arguments of the command, as command->run gets them. */
int run_model(int argc, char **argv);

#endif
