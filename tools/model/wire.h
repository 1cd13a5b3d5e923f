/*
 * Protocol buffers on the wire. A message is read where it lies, by the numbers of its fields, so
 * nothing is copied, no memory is taken, nesting costs nothing, and where each field stands is
 * known to the byte; that is what code generated from a schema would not give. protobuf-c 1.4.1
 * unpacks onnx.proto by recursion: graphs in attributes of nodes, 10,000 deep in a file of 114 kB,
 * overflow a stack of 8 MB. A file of 2 million empty initializers takes 124 times its size there
 * before it can be refused (here 7), and a model whose fields are not in the order of their
 * numbers, such as one with its operator sets before the graph, is packed in other bytes than it
 * was unpacked from.
 */
#ifndef CSRCONV_TOOLS_MODEL_WIRE_H
#define CSRCONV_TOOLS_MODEL_WIRE_H

#include "model.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

/* What is not read yet of a message, or of a packed field. */
struct wire {
    const uint8_t *image;
    size_t at, end;
};

struct wire_field {
    uint32_t number;
    enum wire_type type;
    uint64_t value;          /* of a varint, or the bits of a fixed one */
    struct model_span whole; /* with its tag */
    struct model_span bytes; /* of WIRE_BYTES: what it holds */
};

struct wire wire_of(const uint8_t *image, struct model_span span);

/* Whether the whole message is well formed, fields in it that are messages themselves left out. */
bool wire_is_sound(struct wire message);

/* The next field; false at the end, and where the message is broken. */
bool wire_next(struct wire *message, struct wire_field *field);

/* The next field of that number and type, others skipped. */
bool wire_find(struct wire *message, uint32_t number, enum wire_type type,
               struct wire_field *field);

/* How many fields of that number and type there are. */
size_t wire_count(struct wire message, uint32_t number, enum wire_type type);

bool wire_varint(struct wire *wire, uint64_t *value);

/*
 * The numbers of a repeated field, packed or not: each call takes the next one. `type` is that of a
 * single number. Start with wire_numbers_of.
 */
struct wire_numbers {
    struct wire message, packed;
    uint32_t number;
    enum wire_type type;
};
struct wire_numbers wire_numbers_of(struct wire message, uint32_t number, enum wire_type type);
bool wire_next_number(struct wire_numbers *numbers, uint64_t *value);
size_t wire_count_numbers(struct wire_numbers numbers);

/* The bytes that a varint takes, and the varint itself. */
size_t wire_varint_size(uint64_t value);
void wire_put_varint(FILE *stream, uint64_t value);

/* The head of a field of WIRE_BYTES, before `size` bytes. */
size_t wire_head_size(uint32_t number, size_t size);
void wire_put_head(FILE *stream, uint32_t number, size_t size);

#endif
