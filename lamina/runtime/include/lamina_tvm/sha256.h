/* lamina_tvm/sha256.h: SHA-256 (FIPS 180-4), by which a library's file is what was written. */

#ifndef LAMINA_TVM_SHA256_H
#define LAMINA_TVM_SHA256_H

#include <lamina_tvm/objects.h>

#ifdef __cplusplus
extern "C" {
#endif

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

LAMINA_TVM lamina_tvm_sha256 lamina_tvm_new_hash(void) {
  static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  lamina_tvm_sha256 state;
  memset(&state, 0, sizeof state);
  memcpy(state.hash, first, sizeof first);
  return state;
}

/* Pad what was given: the digest is in `hash` then. */
LAMINA_TVM void lamina_tvm_end_hash(lamina_tvm_sha256 *state) {
  static const uint8_t padding[64] = {0x80};
  const uint64_t bits = state->size * 8;
  uint8_t length[8];
  for (int n = 0; n < 8; n++) length[n] = (uint8_t)(bits >> (56 - 8 * n));
  lamina_tvm_hash(state, padding, (size_t)(64 - (state->size + 8) % 64));
  lamina_tvm_hash(state, length, 8);
}

#ifdef __cplusplus
}
#endif

#endif /* LAMINA_TVM_SHA256_H */
