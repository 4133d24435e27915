// Activations, for works too. NaN stays NaN.
#pragma once

#include "types.cuh"

// The instructions' results are good to 2^-22 and more, and those below 2^-126 are 0.
#ifdef __CUDACC__
DEVICE float fast_exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
DEVICE float fast_reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// The larger one; NaN if one of them is.
DEVICE float larger_or_nan(float x, float y) {
  float z;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
  return z;
}
#else
DEVICE float fast_exp2(float x) { return __builtin_exp2f(x); }
DEVICE float fast_reciprocal(float x) { return 1.f / x; }
DEVICE float larger_or_nan(float x, float y) { return x < y ? y : x; }
#endif

DEVICE float relu(float x) { return larger_or_nan(x, 0.f); }

// x / (1 + e^-x), to 2^-16 of it and 2^-120. Not by tanh.approx, whose error is as large as what it would
// give for negative x. Below -100 it is 0, at -infinity too.
DEVICE float silu(float x) {
  x = larger_or_nan(x, -100.f);
  return x * fast_reciprocal(1.f + fast_exp2(-1.44269504f * x));
}

// x times the normal distribution's integral up to x, the form with erf, to 2^-14 of it and 2^-120. The tail
// beyond |x| is e^(-x^2 / 2) times a polynomial, fitted here, in 1 / (1 + 0.375 |x|); it has no cancellation
// where x is negative, which 1 + erf has, and takes half the instructions of erff.
DEVICE float gelu(float x) {
  const float a = fminf(fabsf(x), 14.f), t = fast_reciprocal(1.f + 0.375f * a);
  float tail = -0.091199555f * t + 0.20151995f;
  tail = ((tail * t + 0.082604244f) * t + 0.15803716f) * t + 0.14902852f;
  return relu(x) - a * t * tail * fast_exp2(-0.72134752f * a * a);
}
