// A CUDA driver without a GPU, for the example: memory is the host's, a launch copies, what is asked goes to stderr.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTEXT ((void*)0x10)
#define LIBRARY ((void*)0x20)
#define KERNEL ((void*)0x30)
#define STREAM ((void*)0x40)
enum { OK = 0, WRONG = 1, MISSING = 500 };

static size_t bytes;

int cuInit(unsigned flags) { return flags ? WRONG : OK; }
int cuDriverGetVersion(int* version) { return *version = 13000, OK; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, OK; }
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  (void)device;
  *value = attribute == 16 ? 132 : 0;  // multiprocessors
  return OK;
}
int cuDevicePrimaryCtxRetain(void** context, int device) { return (void)device, *context = CONTEXT, OK; }
int cuDevicePrimaryCtxRelease_v2(int device) { return (void)device, OK; }
int cuCtxSetCurrent(void* context) { return context == CONTEXT ? OK : WRONG; }
int cuCtxSynchronize(void) { return OK; }

int cuLibraryLoadData(void** library, const void* code, void* a, void* b, unsigned jit, void* c, void* d,
                      unsigned options) {
  (void)a, (void)b, (void)c, (void)d;
  *library = LIBRARY;
  return jit || options || memcmp(code, "\177ELF", 4) ? WRONG : OK;
}
int cuLibraryUnload(void* library) { return library == LIBRARY ? OK : WRONG; }
int cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  fprintf(stderr, "kernel %s\n", name);
  *kernel = KERNEL;
  return library == LIBRARY ? OK : WRONG;
}
int cuKernelSetAttribute(int attribute, int value, void* kernel, int device) {
  (void)device;
  fprintf(stderr, "attribute %d = %d\n", attribute, value);
  return kernel == KERNEL ? OK : WRONG;
}

int cuMemAlloc_v2(uint64_t* pointer, size_t size) {
  bytes = size;
  *pointer = (uint64_t)(uintptr_t)aligned_alloc(256, (size + 255) / 256 * 256);
  return OK;
}
int cuMemFree_v2(uint64_t pointer) { return free((void*)(uintptr_t)pointer), OK; }
int cuMemsetD8_v2(uint64_t to, unsigned char value, size_t size) {
  return memset((void*)(uintptr_t)to, value, size), OK;
}
int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t size) {
  return memcpy((void*)(uintptr_t)to, from, size), OK;
}
int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t size) {
  return memcpy(to, (void*)(uintptr_t)from, size), OK;
}

int cuStreamCreate(void** stream, unsigned flags) { return (void)flags, *stream = STREAM, OK; }
int cuStreamSynchronize(void* stream) { return stream == STREAM ? OK : WRONG; }
int cuStreamDestroy_v2(void* stream) { return stream == STREAM ? OK : WRONG; }

// The map begins with the address, so that a launch reads maps and pointers alike.
int cuTensorMapEncodeTiled(void* map, int type, unsigned rank, void* address, const uint64_t* extents,
                           const uint64_t* pitches, const unsigned* box, const unsigned* steps, int interleave,
                           int swizzle, int l2, int fill) {
  fprintf(stderr, "map type %d", type);
  for (unsigned i = 0; i < rank; ++i)
    fprintf(stderr, ", %llu by %u (%u)", (unsigned long long)extents[i], box[i], steps[i]);
  for (unsigned i = 0; i + 1 < rank; ++i) fprintf(stderr, ", pitch %llu", (unsigned long long)pitches[i]);
  fprintf(stderr, ", modes %d %d %d %d\n", interleave, swizzle, l2, fill);
  memset(map, 0, 128);
  memcpy(map, &address, sizeof address);
  return OK;
}

struct Config {
  unsigned grid[3], block[3], shared;
  void *stream, *attributes;
  unsigned count;
};

int cuLaunchKernelEx(const struct Config* config, void* kernel, void** parameters, void** extra) {
  fprintf(stderr, "grid %u %u %u, block %u %u %u, shared %u, attributes %u, last %d\n", config->grid[0],
          config->grid[1], config->grid[2], config->block[0], config->block[1], config->block[2], config->shared,
          config->count, *(int*)parameters[2]);
  if (kernel != KERNEL || config->stream != STREAM || extra || (uintptr_t)parameters[0] % 64) return WRONG;
  memcpy(*(void**)parameters[1], *(void**)parameters[0], bytes);
  return OK;
}

int cuGetProcAddress_v2(const char* name, void** address, int version, uint64_t flags, void* status) {
  (void)version, (void)flags, (void)status;
  Dl_info own;
  dladdr((void*)(uintptr_t)cuInit, &own);
  void* library = dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  char versioned[128];
  snprintf(versioned, sizeof versioned, "%s_v2", name);
  *address = dlsym(library, versioned);
  if (!*address) *address = dlsym(library, name);
  return *address ? OK : MISSING;
}
