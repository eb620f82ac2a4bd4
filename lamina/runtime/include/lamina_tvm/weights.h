/* lamina_tvm/weights.h: weights that are given to a library which has them: they are compared, not taken.

   What is inside was folded into other weights and packed. The description of a library has a digest of each weight
   that `relay.build` was given, so that other values than those are an error instead of being passed over. */

#ifndef LAMINA_TVM_WEIGHTS_H
#define LAMINA_TVM_WEIGHTS_H

#include <lamina_tvm/libraries.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -- the digests of a library -------------------------------------------------------------------------------------- */

/* The first digits of the digest of texts and bytes, as `array_digest` in Python has them: with a zero at the end. */
LAMINA_TVM void lamina_tvm_digest(const char *text, const void *data, size_t size, char digits[17]) {
  lamina_tvm_sha256 state = lamina_tvm_new_hash();
  lamina_tvm_hash(&state, text, strlen(text));
  lamina_tvm_hash(&state, data, size);
  lamina_tvm_end_hash(&state);
  snprintf(digits, 17, "%08x%08x", (unsigned)state.hash[0], (unsigned)state.hash[1]);
}

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
