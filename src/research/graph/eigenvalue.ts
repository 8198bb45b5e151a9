/*
 * One eigenvalue of a symmetric matrix, exactly: Golub and Van Loan, Matrix Computations (4th edition), 8.3.1 and 8.4.2.
 */

/** The two diagonals of a symmetric matrix that has no other values. */
interface Tridiagonal {
  readonly diagonal: Float64Array;
  /** Beside the diagonal; the first one is not used. */
  readonly beside: Float64Array;
}

/** Returns the second smallest eigenvalue of a symmetric matrix. It is destroyed. */
export function secondSmallestEigenvalue(matrix: readonly Float64Array[]): number {
  const made = tridiagonalOf(matrix);
  let [low, high] = boundsOf(made);
  // Each step halves the interval: 53 bits, and 10 for an eigenvalue that is small beside the largest.
  for (let step = 0; step < 63; step += 1) {
    const middle = (low + high) / 2;
    if (eigenvaluesBelow(made, middle) >= 2) high = middle;
    else low = middle;
  }
  return (low + high) / 2;
}

/** Reflects the rows below the diagonal onto one value each (Householder). */
function tridiagonalOf(a: readonly Float64Array[]): Tridiagonal {
  const n = a.length;
  const [diagonal, beside] = [new Float64Array(n), new Float64Array(n)];
  for (let k = 0; k < n - 1; k += 1) {
    const row = a[k] as Float64Array;
    diagonal[k] = row[k] as number;
    let norm = 0;
    for (let j = k + 1; j < n; j += 1) norm += (row[j] as number) ** 2;
    norm = Math.sqrt(norm);
    const head = row[k + 1] as number;
    beside[k + 1] = head > 0 ? -norm : norm;
    if (norm === 0 || k === n - 2) {
      beside[k + 1] = head;
      continue;
    }
    const v = row.slice();
    v[k + 1] = head - (beside[k + 1] as number);
    reflect(a, v, k + 1);
  }
  diagonal[n - 1] = (a[n - 1] as Float64Array)[n - 1] as number;
  return { diagonal, beside };
}

/** Applies the reflection along a vector to the part of a symmetric matrix from a row on, from both sides. */
function reflect(a: readonly Float64Array[], v: Float64Array, from: number): void {
  const n = a.length;
  let square = 0;
  for (let j = from; j < n; j += 1) square += (v[j] as number) ** 2;
  const p = new Float64Array(n);
  let inner = 0;
  for (let i = from; i < n; i += 1) {
    const row = a[i] as Float64Array;
    let sum = 0;
    for (let j = from; j < n; j += 1) sum += (row[j] as number) * (v[j] as number);
    p[i] = (2 * sum) / square;
    inner += (p[i] as number) * (v[i] as number);
  }
  for (let i = from; i < n; i += 1) p[i] = (p[i] as number) - (inner / square) * (v[i] as number);
  for (let i = from; i < n; i += 1) {
    const row = a[i] as Float64Array;
    const [vi, pi] = [v[i] as number, p[i] as number];
    for (let j = from; j < n; j += 1) row[j] = (row[j] as number) - vi * (p[j] as number) - pi * (v[j] as number);
  }
}

/** All eigenvalues lie in these bounds (Gershgorin). */
function boundsOf({ diagonal, beside }: Tridiagonal): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  diagonal.forEach((value, place) => {
    const radius = Math.abs(place === 0 ? 0 : (beside[place] ?? 0)) + Math.abs(beside[place + 1] ?? 0);
    low = Math.min(low, value - radius);
    high = Math.max(high, value + radius);
  });
  return [low, high];
}

/** Counts the eigenvalues below a bound: the negative values of a Sturm sequence. */
function eigenvaluesBelow({ diagonal, beside }: Tridiagonal, bound: number): number {
  let below = 0;
  let last = 1;
  diagonal.forEach((value, place) => {
    const step = place === 0 ? 0 : (beside[place] as number) ** 2 / last;
    last = value - bound - step;
    if (last === 0) last = Number.EPSILON * (Math.abs(bound) + Number.EPSILON);
    if (last < 0) below += 1;
  });
  return below;
}
