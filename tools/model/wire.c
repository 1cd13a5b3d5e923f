#include "wire.h"

#include "format/bytes.h"

struct wire wire_of(const uint8_t *image, struct model_span span)
{
    return (struct wire){ image, span.begin, span.end };
}

bool wire_varint(struct wire *wire, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; shift < 64 && wire->at < wire->end; shift += 7) {
        const uint8_t byte = wire->image[wire->at++];
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool take_fixed(struct wire *wire, int size, uint64_t *value)
{
    if (wire->end - wire->at < (size_t)size)
        return false;
    *value = load_bytes(wire->image + wire->at, size, false);
    wire->at += (size_t)size;
    return true;
}

static bool take_bytes(struct wire *wire, struct model_span *bytes)
{
    uint64_t size;
    if (!wire_varint(wire, &size) || size > wire->end - wire->at)
        return false;
    *bytes = (struct model_span){ wire->at, wire->at + (size_t)size };
    wire->at = bytes->end;
    return true;
}

static bool take_number(struct wire *wire, enum wire_type type, uint64_t *value)
{
    switch (type) {
    case WIRE_VARINT:
        return wire_varint(wire, value);
    case WIRE_FIXED64:
        return take_fixed(wire, 8, value);
    case WIRE_FIXED32:
        return take_fixed(wire, 4, value);
    default: /* the groups of old, which ONNX never had */
        return false;
    }
}

bool wire_next(struct wire *message, struct wire_field *field)
{
    uint64_t tag;
    *field = (struct wire_field){ .whole.begin = message->at };
    if (message->at >= message->end || !wire_varint(message, &tag) || tag >> 3 == 0 ||
        tag >> 3 > UINT32_MAX)
        return false;
    field->number = (uint32_t)(tag >> 3);
    field->type = (enum wire_type)(tag & 7);
    if (field->type == WIRE_BYTES ? !take_bytes(message, &field->bytes)
                                  : !take_number(message, field->type, &field->value))
        return false;
    field->whole.end = message->at;
    return true;
}

bool wire_is_sound(struct wire message)
{
    struct wire_field field;
    size_t done = message.at;
    while (wire_next(&message, &field))
        done = message.at;
    return done == message.end;
}

bool wire_find(struct wire *message, uint32_t number, enum wire_type type, struct wire_field *field)
{
    while (wire_next(message, field))
        if (field->number == number && field->type == type)
            return true;
    return false;
}

size_t wire_count(struct wire message, uint32_t number, enum wire_type type)
{
    struct wire_field field;
    size_t count = 0;
    while (wire_find(&message, number, type, &field))
        count++;
    return count;
}

struct wire_numbers wire_numbers_of(struct wire message, uint32_t number, enum wire_type type)
{
    return (struct wire_numbers){ .message = message, .number = number, .type = type };
}

bool wire_next_number(struct wire_numbers *numbers, uint64_t *value)
{
    struct wire_field field;
    while (numbers->packed.at >= numbers->packed.end) {
        do {
            if (!wire_next(&numbers->message, &field))
                return false;
        } while (field.number != numbers->number ||
                 (field.type != WIRE_BYTES && field.type != numbers->type));
        *value = field.value;
        if (field.type != WIRE_BYTES)
            return true;
        numbers->packed = wire_of(numbers->message.image, field.bytes);
    }
    return take_number(&numbers->packed, numbers->type, value);
}

size_t wire_count_numbers(struct wire_numbers numbers)
{
    uint64_t value;
    size_t count = 0;
    while (wire_next_number(&numbers, &value))
        count++;
    return count;
}

size_t wire_varint_size(uint64_t value)
{
    size_t size = 1;
    for (; value >= 0x80; value >>= 7)
        size++;
    return size;
}

void wire_put_varint(FILE *stream, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        putc((int)(value & 0x7f) | 0x80, stream);
    putc((int)value, stream);
}

size_t wire_head_size(uint32_t number, size_t size)
{
    return wire_varint_size((uint64_t)number << 3 | WIRE_BYTES) + wire_varint_size(size);
}

void wire_put_head(FILE *stream, uint32_t number, size_t size)
{
    wire_put_varint(stream, (uint64_t)number << 3 | WIRE_BYTES);
    wire_put_varint(stream, size);
}
