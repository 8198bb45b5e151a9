/** Most numbers of a vector. */
export const LONGEST = 65_536;

/**
 * What is asked for, at a place that the compiler knows: a product reads it twice as fast as a parameter. It is only in use within one
 * call, which never waits, so that it can be everybody's.
 */
const asked = new Float64Array(LONGEST);

/** Says what the next products are with. */
export function ask(query: Float32Array): void {
  asked.set(query);
}

/** The product of what was asked with the numbers from `from` on. Four sums at once, for the processor can add them side by side. */
export function product(numbers: Float32Array, from: number, size: number): number {
  const whole = size & ~3;
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let n = 0; n < whole; n += 4) {
    const at = (from + n) | 0;
    a += (asked[n] as number) * (numbers[at] as number);
    b += (asked[n + 1] as number) * (numbers[at + 1] as number);
    c += (asked[n + 2] as number) * (numbers[at + 2] as number);
    d += (asked[n + 3] as number) * (numbers[at + 3] as number);
  }
  for (let n = whole; n < size; n++) a += (asked[n] as number) * (numbers[from + n] as number);
  return a + b + c + d;
}

/** The products with so many rows of numbers. */
export function products(rows: Float32Array, count: number, size: number, into: Float64Array): void {
  for (let row = 0; row < count; row++) into[row] = product(rows, row * size, size);
}

/** The square of a vector's length. */
export function squareOf(numbers: Float32Array): number {
  const whole = numbers.length & ~3;
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let n = 0; n < whole; n += 4) {
    a += (numbers[n] as number) ** 2;
    b += (numbers[n + 1] as number) ** 2;
    c += (numbers[n + 2] as number) ** 2;
    d += (numbers[n + 3] as number) ** 2;
  }
  for (let n = whole; n < numbers.length; n++) a += (numbers[n] as number) ** 2;
  return a + b + c + d;
}
