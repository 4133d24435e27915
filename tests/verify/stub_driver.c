// A driver whose device memory is the host's, and whose one kernel copies the matrix of its first tensor map to
// that of its second. What STUB names goes wrong: `beyond` writes 16 bytes too many a row, `short` leaves the last
// row out, `crash` ends the process, `hang` never returns, `fail` makes the launch an error of the driver's.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { uint64_t address, columns, rows, pitch; } Map;

static void* const HANDLE = (void*)0x10;

static int is(const char* mode) {
  const char* given = getenv("STUB");
  return given && !strcmp(given, mode);
}

int cuInit(unsigned flags) { return (int)flags; }
int cuDriverGetVersion(int* version) { return *version = 13000, 0; }
int cuDeviceGetCount(int* count) { return *count = 1, 0; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, 0; }
int cuDeviceGetName(char* name, int size, int device) { return (void)device, snprintf(name, (size_t)size, "Stub"), 0; }
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  (void)device;
  *value = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 16 ? 132 : attribute == 97 ? 232448 : 1024;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int device) { return (void)device, *context = HANDLE, 0; }
int cuCtxSetCurrent(void* context) { return context != HANDLE; }
int cuCtxPushCurrent(void* context) { return context != HANDLE; }
int cuCtxPopCurrent(void** context) { return *context = HANDLE, 0; }
int cuCtxGetCurrent(void** context) { return *context = HANDLE, 0; }
int cuCtxGetDevice(int* device) { return *device = 0, 0; }
int cuCtxSynchronize(void) { return 0; }
int cuLibraryLoadData(void** library, const void* code, void* a, void* b, unsigned c, void* d, void* e, unsigned f) {
  return (void)code, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, *library = HANDLE, 0;
}
int cuLibraryUnload(void* library) { return library != HANDLE; }
int cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  return (void)library, (void)name, *kernel = HANDLE, 0;
}
int cuKernelGetFunction(void** function, void* kernel) { return (void)kernel, *function = HANDLE, 0; }
int cuKernelGetAttribute(int* value, int attribute, void* kernel, int device) {
  return (void)attribute, (void)kernel, (void)device, *value = 0, 0;
}
int cuKernelSetAttribute(int attribute, int value, void* kernel, int device) {
  return (void)attribute, (void)value, (void)kernel, (void)device, 0;
}
int cuPointerGetAttribute(void* value, int attribute, uint64_t pointer) {
  return (void)attribute, (void)pointer, *(int*)value = 0, 0;
}
int cuStreamIsCapturing(void* stream, int* status) { return (void)stream, *status = 0, 0; }
int cuThreadExchangeStreamCaptureMode(int* mode) { return (void)mode, 0; }
int cuMemAlloc(uint64_t* pointer, size_t size) {
  return *pointer = (uint64_t)aligned_alloc(512, (size + 511) / 512 * 512), 0;
}
int cuMemFree(uint64_t pointer) { return free((void*)pointer), 0; }
int cuMemcpyHtoD(uint64_t to, const void* from, size_t size) { return memcpy((void*)to, from, size), 0; }
int cuMemcpyDtoH(void* to, uint64_t from, size_t size) { return memcpy(to, (void*)from, size), 0; }
int cuTensorMapEncodeTiled(void* map, int type, unsigned rank, void* address, const uint64_t* extents,
                           const uint64_t* pitches, const uint32_t* box, const uint32_t* steps, int interleave,
                           int swizzle, int l2, int fill) {
  (void)type, (void)box, (void)steps, (void)interleave, (void)swizzle, (void)l2, (void)fill;
  Map made = {(uint64_t)address, extents[0], extents[1], pitches[0]};
  return memcpy(map, &made, sizeof made), rank != 2;
}
int cuLaunchKernelEx(const void* config, void* kernel, void** parameters, void** extra) {
  (void)config, (void)kernel, (void)extra;
  Map from, to;
  memcpy(&from, parameters[0], sizeof from);
  memcpy(&to, parameters[1], sizeof to);
  if (is("crash")) abort();
  if (is("fail")) return 700;
  while (is("hang")) {
  }
  for (uint64_t row = 0; row + is("short") < from.rows; ++row)
    memcpy((void*)(to.address + row * to.pitch), (void*)(from.address + row * from.pitch),
           2 * from.columns + (is("beyond") ? 16 : 0));
  return 0;
}

#define ENTRY(name) {#name, (void*)name}
static const struct { const char* name; void* function; } FUNCTIONS[] = {
    ENTRY(cuInit), ENTRY(cuDriverGetVersion), ENTRY(cuDeviceGetCount), ENTRY(cuDeviceGet), ENTRY(cuDeviceGetName),
    ENTRY(cuDeviceGetAttribute), ENTRY(cuDevicePrimaryCtxRetain), ENTRY(cuCtxSetCurrent), ENTRY(cuCtxPushCurrent),
    ENTRY(cuCtxPopCurrent), ENTRY(cuCtxGetCurrent), ENTRY(cuCtxGetDevice), ENTRY(cuCtxSynchronize), ENTRY(cuLibraryLoadData),
    ENTRY(cuLibraryUnload), ENTRY(cuLibraryGetKernel), ENTRY(cuKernelGetFunction), ENTRY(cuKernelGetAttribute),
    ENTRY(cuKernelSetAttribute), ENTRY(cuPointerGetAttribute), ENTRY(cuStreamIsCapturing),
    ENTRY(cuThreadExchangeStreamCaptureMode), ENTRY(cuMemAlloc), ENTRY(cuMemFree), ENTRY(cuMemcpyHtoD),
    ENTRY(cuMemcpyDtoH), ENTRY(cuTensorMapEncodeTiled), ENTRY(cuLaunchKernelEx),
};

int cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t flags, int* status) {
  (void)version, (void)flags;
  *function = !strcmp(name, "cuGetProcAddress") ? (void*)cuGetProcAddress_v2 : NULL;
  for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; ++i)
    if (!strcmp(name, FUNCTIONS[i].name)) *function = FUNCTIONS[i].function;
  if (status) *status = *function ? 0 : 1;
  return *function ? 0 : 500;
}
int cuGetProcAddress(const char* name, void** function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, NULL);
}
