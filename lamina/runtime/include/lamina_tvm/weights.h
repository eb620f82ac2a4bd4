/* lamina_tvm/weights.h: weights that are given to a library which has them: they are compared, not taken.

   What is inside was folded into other weights and packed. The description of a library has a digest of each weight
   that `relay.build` was given, so that other values than those are an error instead of being passed over. */

#ifndef LAMINA_TVM_WEIGHTS_H
#define LAMINA_TVM_WEIGHTS_H

#include <lamina_tvm/libraries.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -- SHA-256 (FIPS 180-4) ------------------------------------------------------------------------------------------ */

typedef struct {
  uint32_t hash[8];
  uint8_t block[64];
  uint64_t size;
} lamina_tvm_sha256;

LAMINA_TVM void lamina_tvm_hash_block(uint32_t *hash, const uint8_t *block) {
  static const uint32_t k[64] = {
      0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
      0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
      0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
      0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
      0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
      0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
      0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
      0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
#define LAMINA_TVM_ROTATED(x, n) ((x) >> (n) | (x) << (32 - (n)))
  uint32_t w[64], v[8];
  for (int t = 0; t < 16; t++)
    w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 | (uint32_t)block[4 * t + 2] << 8 |
           block[4 * t + 3];
  for (int t = 16; t < 64; t++) {
    const uint32_t a = w[t - 15], b = w[t - 2];
    w[t] = w[t - 16] + (LAMINA_TVM_ROTATED(a, 7) ^ LAMINA_TVM_ROTATED(a, 18) ^ a >> 3) + w[t - 7] +
           (LAMINA_TVM_ROTATED(b, 17) ^ LAMINA_TVM_ROTATED(b, 19) ^ b >> 10);
  }
  memcpy(v, hash, sizeof v);
  for (int t = 0; t < 64; t++) {
    const uint32_t a = v[0], e = v[4];
    const uint32_t one = v[7] + (LAMINA_TVM_ROTATED(e, 6) ^ LAMINA_TVM_ROTATED(e, 11) ^ LAMINA_TVM_ROTATED(e, 25)) +
                         ((e & v[5]) ^ (~e & v[6])) + k[t] + w[t];
    const uint32_t two = (LAMINA_TVM_ROTATED(a, 2) ^ LAMINA_TVM_ROTATED(a, 13) ^ LAMINA_TVM_ROTATED(a, 22)) +
                         ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
    memmove(v + 1, v, 7 * sizeof *v);
    v[4] += one;
    v[0] = one + two;
  }
#undef LAMINA_TVM_ROTATED
  for (int n = 0; n < 8; n++) hash[n] += v[n];
}

LAMINA_TVM void lamina_tvm_hash(lamina_tvm_sha256 *state, const void *data, size_t size) {
  const uint8_t *bytes = (const uint8_t *)data;
  while (size) {
    const size_t at = (size_t)(state->size % 64), part = size < 64 - at ? size : 64 - at;
    memcpy(state->block + at, bytes, part);
    state->size += part;
    bytes += part;
    size -= part;
    if (state->size % 64 == 0) lamina_tvm_hash_block(state->hash, state->block);
  }
}

/* The first digits of the digest of texts and bytes, as `array_digest` in Python has them: with a zero at the end. */
LAMINA_TVM void lamina_tvm_digest(const char *text, const void *data, size_t size, char digits[17]) {
  static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  static const uint8_t padding[64] = {0x80};
  lamina_tvm_sha256 state;
  uint8_t length[8];
  memcpy(state.hash, first, sizeof first);
  state.size = 0;
  lamina_tvm_hash(&state, text, strlen(text));
  lamina_tvm_hash(&state, data, size);
  for (int n = 0; n < 8; n++) length[n] = (uint8_t)(state.size * 8 >> (56 - 8 * n));
  lamina_tvm_hash(&state, padding, (size_t)(64 - (state.size + 8) % 64));
  lamina_tvm_hash(&state, length, 8);
  snprintf(digits, 17, "%08x%08x", (unsigned)state.hash[0], (unsigned)state.hash[1]);
}

/* -- the digests of a library -------------------------------------------------------------------------------------- */

/* The digest of a weight in the description of a library, of 16 digits; null where it has none of the name. */
LAMINA_TVM const char *lamina_tvm_weight(const lamina_tvm_library *library, const char *name) {
  static const char begin[] = "\"tvm.params\":{";
  const char *at = library->description ? strstr(library->description, begin) : NULL;
  const size_t length = strlen(name);
  if (!at) return NULL;
  /* Pairs "name":"digest". */
  for (at += sizeof begin - 1; *at == '"' || *at == ','; at++) {
    if (*at == ',') continue;
    const char *text = ++at;
    while (*at && *at != '"') at += *at == '\\' && at[1] ? 2 : 1;
    if (strlen(at) < 20) return NULL;
    if ((size_t)(at - text) == length && !memcmp(text, name, length)) return at + 3;
    at += 19;
  }
  return NULL;
}

/* Compare a tensor with the weight of its name: 0 where it is the same. */
LAMINA_TVM int lamina_tvm_compare(const lamina_tvm_library *library, const char *name, const DLTensor *tensor) {
  const char *known = lamina_tvm_weight(library, name);
  char head[LAMINA_TVM_TYPE_ROOM + 2], digits[17];
  size_t size = 0;
  if (!library->description)
    return lamina_tvm_fail("'%s': a net that is linked into the program has no digests to compare weights with", name);
  if (!known) return lamina_tvm_fail("'%s': is no input of the net '%s', and no weight", name, library->net->name);
  if (lamina_tvm_copied_bytes(tensor, &size)) return -1;
  DLDataType dtype = tensor->dtype;
  if (dtype.code == kDLUInt && dtype.bits == 1) dtype.code = kDLBool;
  lamina_tvm_describe(head, dtype, tensor->ndim, tensor->shape);
  strcat(head, ":");
  lamina_tvm_digest(head, lamina_tvm_first(tensor), size, digits);
  if (memcmp(known, digits, 16))
    return lamina_tvm_fail("'%s': this weight is part of the library, and has another value there", name);
  return 0;
}

/* -- weights in TVM's format --------------------------------------------------------------------------------------- */

typedef struct {
  const char *at;
  size_t left;
} lamina_tvm_reader;

/* Read numbers as they lie in memory, or pass over bytes where `to` is null: 0 where there are as many. */
LAMINA_TVM int lamina_tvm_take(lamina_tvm_reader *reader, void *to, uint64_t size) {
  if (size > reader->left) return lamina_tvm_fail("load_params: the parameters end too early");
  if (to) memcpy(to, reader->at, (size_t)size);
  reader->at += size;
  reader->left -= (size_t)size;
  return 0;
}

/* The next array as a tensor of the bytes that are read; `shape` has room for eight extents. */
LAMINA_TVM int lamina_tvm_take_array(lamina_tvm_reader *reader, DLTensor *tensor, int64_t *shape) {
  uint64_t head[2];
  int32_t place[3];
  int64_t size = 0;
  memset(tensor, 0, sizeof *tensor);
  if (lamina_tvm_take(reader, head, sizeof head) || lamina_tvm_take(reader, place, sizeof place) ||
      lamina_tvm_take(reader, &tensor->dtype, sizeof tensor->dtype))
    return -1;
  if (head[0] != UINT64_C(0xDD5E40F096B4A13F) || place[2] < 0 || place[2] > 8)
    return lamina_tvm_fail("load_params: an array is damaged, or has more than eight dimensions");
  if (lamina_tvm_take(reader, shape, (uint64_t)place[2] * sizeof *shape) || lamina_tvm_take(reader, &size, sizeof size))
    return -1;
  tensor->device.device_type = kDLCPU;
  tensor->ndim = place[2];
  tensor->shape = shape;
  tensor->data = (void *)(uintptr_t)reader->at;
  if (size < 0 || lamina_tvm_bytes(tensor->ndim, shape, tensor->dtype) != (uint64_t)size)
    return lamina_tvm_fail("load_params: an array is damaged: its size is not that of its shape");
  return lamina_tvm_take(reader, NULL, (uint64_t)size);
}

/* Go through the arrays of `relay.save_param_dict` with their names. */
LAMINA_TVM int lamina_tvm_each_param(const TVMByteArray *bytes,
                                     int (*each)(void *context, const char *name, DLTensor *tensor), void *context) {
  lamina_tvm_reader names = {bytes->data, bytes->size}, arrays;
  uint64_t head[3], count, length;
  if (lamina_tvm_take(&names, head, sizeof head)) return -1;
  if (head[0] != UINT64_C(0xF7E58D4F05049CB7))
    return lamina_tvm_fail("load_params: these bytes are no parameters: `relay.save_param_dict` writes them");
  arrays = names;
  for (uint64_t n = 0; n < head[2]; n++)
    if (lamina_tvm_take(&arrays, &length, sizeof length) || lamina_tvm_take(&arrays, NULL, length)) return -1;
  if (lamina_tvm_take(&arrays, &count, sizeof count)) return -1;
  if (count != head[2])
    return lamina_tvm_fail("load_params: there are %llu names for %llu arrays", (unsigned long long)head[2],
                           (unsigned long long)count);
  for (uint64_t n = 0; n < count; n++) {
    DLTensor tensor;
    int64_t shape[8];
    lamina_tvm_take(&names, &length, sizeof length);
    TVMByteArray *name = lamina_tvm_copied(names.at, (size_t)length);
    lamina_tvm_take(&names, NULL, length);
    if (!name) return lamina_tvm_fail("no memory for the name of a weight");
    const int code = lamina_tvm_take_array(&arrays, &tensor, shape) || each(context, name->data, &tensor) ? -1 : 0;
    free(name);
    if (code) return -1;
  }
  return 0;
}

#ifdef __cplusplus
}
#endif

#endif /* LAMINA_TVM_WEIGHTS_H */
