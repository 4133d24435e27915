// A Hilbert curve through any rectangle, every step to a neighbour.
#pragma once

#include "types.cuh"

template <class I> struct HilbertPlace {
  I row, column;
};

// NOTES: a piece of the curve crosses a rectangle, `length` ahead and `width` aside, and ends at the corner
// that lies straight ahead of its first. That can be done by steps to neighbours if `length` is even, if both
// are odd and `length` is not 1, or if `width` is 1; every cut keeps it so, because what it cuts off is even.
template <class I> DEVICE HilbertPlace<I> hilbert(I index, I rows, I columns) {
  const bool odd_rows = rows % 2 != 0, odd_columns = columns % 2 != 0;
  const bool down = odd_rows == odd_columns ? rows >= columns
                    : rows > 1 && columns > 1 ? odd_columns
                                              : rows > columns;
  I length = down ? rows : columns, width = down ? columns : rows;
  I ahead_row = down, ahead_column = !down, aside_row = !down, aside_column = down;
  I row = 0, column = 0;
  while (width > 1) {
    if (length > width + width / 2) {
      const I half = length / 2, cut = half + half % 2;
      if (index < cut * width) {
        length = cut;
      } else {
        index -= cut * width;
        row += ahead_row * cut;
        column += ahead_column * cut;
        length -= cut;
      }
      continue;
    }
    const I half = length / 2, middle = width / 2;
    const I cut = width > 2 ? middle + middle % 2 : middle;
    const I first = cut * half, second = length * (width - cut);
    if (index >= first && index < first + second) {
      index -= first;
      row += aside_row * cut;
      column += aside_column * cut;
      width -= cut;
      continue;
    }
    const I other_row = ahead_row, other_column = ahead_column;
    if (index < first) {
      length = cut;
      width = half;
      ahead_row = aside_row;
      ahead_column = aside_column;
      aside_row = other_row;
      aside_column = other_column;
    } else {
      index -= first + second;
      row += ahead_row * (length - 1) + aside_row * (cut - 1);
      column += ahead_column * (length - 1) + aside_column * (cut - 1);
      width = length - half;
      length = cut;
      ahead_row = -aside_row;
      ahead_column = -aside_column;
      aside_row = -other_row;
      aside_column = -other_column;
    }
  }
  return {row + ahead_row * index, column + ahead_column * index};
}
