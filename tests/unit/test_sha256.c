/* SHA-256 against the examples of FIPS 180-4 and of NIST's test vectors. */
#include "helpers.h"

#include "sha256.h"

#include <stdio.h>
#include <string.h>

struct example {
    const char *message, *digest;
};

static const struct example examples[] = {
    { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
    { "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
    { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
    { "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmno"
      "pq"
      "rsmnopqrstnopqrstu",
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
};

static void assert_digest(struct csrconv_sha256 *hash, const char *want)
{
    uint8_t digest[CSRCONV_SHA256_BYTES];
    char got[2 * CSRCONV_SHA256_BYTES + 1];
    csrconv_sha256_end(hash, digest);
    for (int i = 0; i < CSRCONV_SHA256_BYTES; i++)
        snprintf(got + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(got, want);
}

static void examples_come_out(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(examples); i++) {
        struct csrconv_sha256 hash;
        csrconv_sha256_begin(&hash);
        csrconv_sha256_add(&hash, examples[i].message, strlen(examples[i].message));
        assert_digest(&hash, examples[i].digest);
    }
}

/* A million of them, in pieces of every size up to three blocks. */
static void pieces_make_the_whole(void **state)
{
    enum { LENGTH = 1000000, LONGEST = 3 * CSRCONV_SHA256_BLOCK };
    struct csrconv_sha256 hash;
    char letters[LONGEST];
    size_t left = LENGTH;
    (void)state;
    memset(letters, 'a', sizeof letters);
    csrconv_sha256_begin(&hash);
    for (size_t piece = 0; left; piece = (piece + 1) % (LONGEST + 1)) {
        const size_t size = piece < left ? piece : left;
        csrconv_sha256_add(&hash, letters, size);
        left -= size;
    }
    assert_digest(&hash, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Every length around a block's end, where the padding takes another one: all digests differ. */
static void lengths_matter(void **state)
{
    enum { LENGTHS = 2 * CSRCONV_SHA256_BLOCK + 2 };
    static uint8_t digests[LENGTHS][CSRCONV_SHA256_BYTES];
    static const uint8_t zeros[LENGTHS];
    (void)state;
    for (size_t i = 0; i < LENGTHS; i++) {
        struct csrconv_sha256 hash;
        csrconv_sha256_begin(&hash);
        csrconv_sha256_add(&hash, zeros, i);
        csrconv_sha256_end(&hash, digests[i]);
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(digests[i], digests[j], CSRCONV_SHA256_BYTES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_come_out),
        cmocka_unit_test(pieces_make_the_whole),
        cmocka_unit_test(lengths_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
