/* lamina_tvm/arrays.h: arrays of TVM's C interface: a DLTensor with its memory, counted. */

#ifndef LAMINA_TVM_ARRAYS_H
#define LAMINA_TVM_ARRAYS_H

#include <lamina_tvm/objects.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LAMINA_TVM_ALIGNMENT 64u

typedef struct {
  /* comes first: a handle of an array is one of its tensor */
  DLTensor tensor;
  int references;
  /* of memory that is not behind this record: what frees it; null where it is */
  void (*release)(void *owner);
  void *owner;
} lamina_tvm_array;

LAMINA_TVM size_t lamina_tvm_item_bytes(DLDataType dtype) { return ((size_t)dtype.bits * dtype.lanes + 7) / 8; }

/* The size of a tensor in bytes; SIZE_MAX where there is none. */
LAMINA_TVM size_t lamina_tvm_bytes(int ndim, const int64_t *shape, DLDataType dtype) {
  size_t size = lamina_tvm_item_bytes(dtype);
  for (int d = 0; d < ndim; d++)
    if (shape[d] < 0 || __builtin_mul_overflow(size, (size_t)shape[d], &size)) return SIZE_MAX;
  return size;
}

LAMINA_TVM int lamina_tvm_is_compact(const DLTensor *tensor) {
  int64_t stride = 1;
  for (int d = tensor->ndim; tensor->strides && d-- > 0; stride *= tensor->shape[d])
    if (tensor->shape[d] != 1 && tensor->strides[d] != stride) return 0;
  return 1;
}

LAMINA_TVM void *lamina_tvm_first(const DLTensor *tensor) { return (char *)tensor->data + tensor->byte_offset; }

LAMINA_TVM int lamina_tvm_check_device(int device_type, int device_id) {
  if (device_type == kDLCPU && device_id == 0) return 0;
  return lamina_tvm_fail("there is no device %d of type %d: nets and arrays are on the processor, {kDLCPU, 0}",
                         device_id, device_type);
}

/* An array with room for its elements, or, with an owner, one of the memory at `data`. */
LAMINA_TVM int lamina_tvm_new_array(const int64_t *shape, int ndim, DLDataType dtype, void *data,
                                    void (*release)(void *owner), void *owner, DLTensor **out) {
  const size_t size = ndim < 0 ? SIZE_MAX : lamina_tvm_bytes(ndim, shape, dtype);
  const size_t head = sizeof(lamina_tvm_array) + (ndim < 0 ? 0 : (size_t)ndim) * sizeof(int64_t);
  if (size > SIZE_MAX / 2) return lamina_tvm_fail("there is no array of %d dimensions with such extents", ndim);
  /* Zeros, so that what was not set is the same in each run. */
  char *memory = (char *)calloc(1, head + (release ? 0 : LAMINA_TVM_ALIGNMENT + size));
  if (!memory) return lamina_tvm_fail("no memory for an array of %zu bytes", size);
  lamina_tvm_array *array = (lamina_tvm_array *)(void *)memory;
  array->references = 1;
  array->release = release;
  array->owner = owner;
  array->tensor.shape = (int64_t *)(void *)(array + 1);
  if (ndim) memcpy(array->tensor.shape, shape, (size_t)ndim * sizeof *shape);
  array->tensor.ndim = ndim;
  array->tensor.dtype = dtype;
  array->tensor.device.device_type = kDLCPU;
  array->tensor.data = data;
  if (!release) array->tensor.data = memory + head + (-((uintptr_t)memory + head) & (LAMINA_TVM_ALIGNMENT - 1));
  *out = &array->tensor;
  return 0;
}

LAMINA_TVM int TVMArrayAlloc(const tvm_index_t *shape, int ndim, int dtype_code, int dtype_bits, int dtype_lanes,
                             int device_type, int device_id, TVMArrayHandle *out) {
  DLDataType dtype;
  dtype.code = (uint8_t)dtype_code;
  dtype.bits = (uint8_t)dtype_bits;
  dtype.lanes = (uint16_t)dtype_lanes;
  if (dtype.code != dtype_code || dtype.bits != dtype_bits || dtype.lanes != dtype_lanes || !dtype_bits || !dtype_lanes)
    return lamina_tvm_fail("there is no type of code %d, %d bits and %d lanes", dtype_code, dtype_bits, dtype_lanes);
  if (lamina_tvm_check_device(device_type, device_id)) return -1;
  return lamina_tvm_new_array(shape, ndim, dtype, NULL, NULL, NULL, out);
}

LAMINA_TVM int TVMArrayFree(TVMArrayHandle handle) {
  lamina_tvm_array *array = (lamina_tvm_array *)(void *)handle;
  if (array && LAMINA_TVM_IS_LAST(array)) {
    if (array->release) array->release(array->owner);
    free(array);
  }
  return 0;
}

LAMINA_TVM void lamina_tvm_end_view(void *array) { TVMArrayFree((TVMArrayHandle)array); }

/* An array of the same memory with other extents or another type. */
LAMINA_TVM int lamina_tvm_view(DLTensor *of, const int64_t *shape, int ndim, DLDataType dtype, DLTensor **out) {
  const size_t size = ndim < 0 ? SIZE_MAX : lamina_tvm_bytes(ndim, shape, dtype);
  if (!lamina_tvm_is_compact(of) || size > lamina_tvm_bytes(of->ndim, of->shape, of->dtype))
    return lamina_tvm_fail("a view has no more bytes than the array, whose elements lie one behind the other");
  if (lamina_tvm_new_array(shape, ndim, dtype, lamina_tvm_first(of), lamina_tvm_end_view, of, out)) return -1;
  LAMINA_TVM_RETAIN((lamina_tvm_array *)(void *)of);
  return 0;
}

/* Whether a tensor's elements may be copied as bytes; their number. */
LAMINA_TVM int lamina_tvm_copied_bytes(const DLTensor *tensor, size_t *size) {
  if (lamina_tvm_check_device(tensor->device.device_type, tensor->device.device_id)) return -1;
  if (!lamina_tvm_is_compact(tensor))
    return lamina_tvm_fail("a tensor that is copied has its elements one behind the other");
  *size = lamina_tvm_bytes(tensor->ndim, tensor->shape, tensor->dtype);
  return *size == SIZE_MAX ? lamina_tvm_fail("a tensor has an extent below zero") : 0;
}

LAMINA_TVM int lamina_tvm_copy(const DLTensor *tensor, const void *from, void *to, size_t nbytes) {
  size_t size = 0;
  if (lamina_tvm_copied_bytes(tensor, &size)) return -1;
  if (size != nbytes) return lamina_tvm_fail("the tensor has %zu bytes, there are %zu to copy", size, nbytes);
  if (size) memmove(to, from, size);
  return 0;
}

LAMINA_TVM int TVMArrayCopyFromBytes(TVMArrayHandle handle, void *data, size_t nbytes) {
  return lamina_tvm_copy(handle, data, lamina_tvm_first(handle), nbytes);
}

LAMINA_TVM int TVMArrayCopyToBytes(TVMArrayHandle handle, void *data, size_t nbytes) {
  return lamina_tvm_copy(handle, lamina_tvm_first(handle), data, nbytes);
}

LAMINA_TVM int TVMArrayCopyFromTo(DLTensor *from, DLTensor *to, TVMStreamHandle stream) {
  size_t size = 0;
  (void)stream;
  if (lamina_tvm_copied_bytes(from, &size)) return -1;
  return lamina_tvm_copy(to, lamina_tvm_first(from), lamina_tvm_first(to), size);
}

LAMINA_TVM int TVMSynchronize(int device_type, int device_id, TVMStreamHandle stream) {
  (void)stream;
  return lamina_tvm_check_device(device_type, device_id);
}

/* -- DLPack -------------------------------------------------------------------------------------------------------- */

LAMINA_TVM void TVMDLManagedTensorCallDeleter(DLManagedTensor *tensor) {
  if (tensor && tensor->deleter) tensor->deleter(tensor);
}

LAMINA_TVM void lamina_tvm_end_managed(void *tensor) { TVMDLManagedTensorCallDeleter((DLManagedTensor *)tensor); }

LAMINA_TVM int TVMArrayFromDLPack(DLManagedTensor *from, TVMArrayHandle *out) {
  const DLTensor *tensor = &from->dl_tensor;
  if (lamina_tvm_check_device(tensor->device.device_type, tensor->device.device_id)) return -1;
  if (!lamina_tvm_is_compact(tensor))
    return lamina_tvm_fail("an array has its elements one behind the other: this tensor has strides");
  if (lamina_tvm_new_array(tensor->shape, tensor->ndim, tensor->dtype, lamina_tvm_first(tensor), lamina_tvm_end_managed,
                           from, out))
    return -1;
  return 0;
}

LAMINA_TVM void lamina_tvm_end_exported(DLManagedTensor *tensor) {
  TVMArrayFree((TVMArrayHandle)tensor->manager_ctx);
  free(tensor);
}

LAMINA_TVM int TVMArrayToDLPack(TVMArrayHandle from, DLManagedTensor **out) {
  DLManagedTensor *made = (DLManagedTensor *)malloc(sizeof *made);
  if (!made) return lamina_tvm_fail("no memory for a tensor of DLPack");
  made->dl_tensor = *from;
  made->manager_ctx = from;
  made->deleter = lamina_tvm_end_exported;
  LAMINA_TVM_RETAIN((lamina_tvm_array *)(void *)from);
  *out = made;
  return 0;
}

/* -- values that are counted --------------------------------------------------------------------------------------- */

/* One more reference to what a value stands for. */
LAMINA_TVM void lamina_tvm_retain(const TVMValue *value, int code) {
  if (!value->v_handle) return;
  if (code == kTVMModuleHandle) LAMINA_TVM_RETAIN((lamina_tvm_module *)value->v_handle);
  if (code == kTVMPackedFuncHandle) LAMINA_TVM_RETAIN((lamina_tvm_function *)value->v_handle);
  if (code == kTVMNDArrayHandle) LAMINA_TVM_RETAIN((lamina_tvm_array *)value->v_handle);
}

/* End the reference that a result is, or free its text. */
LAMINA_TVM void lamina_tvm_release(const TVMValue *value, int code) {
  if (code == kTVMModuleHandle) TVMModFree(value->v_handle);
  if (code == kTVMPackedFuncHandle) TVMFuncFree(value->v_handle);
  if (code == kTVMNDArrayHandle) TVMArrayFree((TVMArrayHandle)value->v_handle);
  if (code == kTVMStr || code == kTVMBytes) free(value->v_handle);
}

/* The tensor that an argument is; null, after saying so, where it is none. */
LAMINA_TVM DLTensor *lamina_tvm_tensor(const char *function, int place, const TVMValue *values, const int *codes) {
  const int code = codes[place];
  if ((code == kTVMDLTensorHandle || code == kTVMNDArrayHandle) && values[place].v_handle)
    return (DLTensor *)values[place].v_handle;
  lamina_tvm_fail("%s: argument %d is %s, not a tensor", function, place, lamina_tvm_kind(code));
  return NULL;
}

#ifdef __cplusplus
}
#endif

#endif /* LAMINA_TVM_ARRAYS_H */
