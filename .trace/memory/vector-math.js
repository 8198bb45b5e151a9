import { stableHash } from "./stable-hash.js";
// ../../work/wt/lead/src/memory/vector-math.ts
const BITS_IN_WORD = 32;
/** One of thirty thousand lies further away than so many standard deviations. */
const DEVIATIONS = 4;
/**
* Reduces a vector to the signs of its numbers, one bit each. Similar vectors differ in few bits, and comparing bits costs a tenth.
*
* The vector is rotated first (some signs flipped, then a Walsh-Hadamard transform), because most signs of a sparse vector carry no information.
*/
var SignSketch = class {
	words;
	#size;
	#flips;
	#rotated;
	constructor(dimensions) {globalThis.__t?.("memory/vector-math.js#constructor@583");
		this.#size = Math.max(64, 2 ** Math.ceil(Math.log2(dimensions)));
		this.words = this.#size / BITS_IN_WORD;
		this.#flips = Float64Array.from({ length: dimensions }, (_, n) => (globalThis.__t?.("memory/vector-math.js#anonymous@766"),((stableHash(String(n)) & 1) === 0 ? 1 : -1)));
		this.#rotated = new Float64Array(this.#size);
	}
	get bits() {globalThis.__t?.("memory/vector-math.js#bits get@881");
		return this.#size;
	}
	/** The number of bits in which two vectors of at least this similarity hardly ever differ more: each bit differs with the probability of their angle (Charikar 2002). */
	reachOf(similarity) {globalThis.__t?.("memory/vector-math.js#reachOf@1089");
		const chance = Math.acos(Math.max(-1, Math.min(1, similarity))) / Math.PI;
		return this.#size * chance + DEVIATIONS * Math.sqrt(this.#size * chance * (1 - chance));
	}
	/** Writes the bits of the vector that starts at `from` to `into` at `at`. */
	write(vector, from, into, at) {globalThis.__t?.("memory/vector-math.js#write@1360");
		const rotated = this.#rotated.fill(0);
		for (let n = 0; n < this.#flips.length; n++) rotated[n] = vector[from + n] * this.#flips[n];
		transform(rotated);
		for (let word = 0; word < this.words; word++) {
			let bits = 0;
			for (let n = 0; n < BITS_IN_WORD; n++) bits |= Number(rotated[word * BITS_IN_WORD + n] > 0) << n;
			into[at + word] = bits;
		}
	}
};
/** The Walsh-Hadamard transform in place. The length is a power of two. Two steps at once read each number half as often. */
function transform(numbers) {globalThis.__t?.("memory/vector-math.js#transform@1876");
	const size = numbers.length;
	let half = 1;
	for (; half * 4 <= size; half *= 4) for (let start = 0; start < size; start += 4 * half) for (let n = start; n < start + half; n++) {
		const a = numbers[n];
		const b = numbers[n + half];
		const c = numbers[n + 2 * half];
		const d = numbers[n + 3 * half];
		numbers[n] = a + b + (c + d);
		numbers[n + half] = a - b + (c - d);
		numbers[n + 2 * half] = a + b - (c + d);
		numbers[n + 3 * half] = a - b - (c - d);
	}
	if (half === size) return;
	for (let n = 0; n < half; n++) {
		const a = numbers[n];
		const b = numbers[n + half];
		numbers[n] = a + b;
		numbers[n + half] = a - b;
	}
}
/** Writes the number of differing bits of each row to `into`, and counts the rows of each number. */
function countDiffering(rows, asked, into, histogram) {globalThis.__t?.("memory/vector-math.js#countDiffering@2646");
	const words = asked.length;
	for (let row = 0; row < into.length; row++) {
		let count = 0;
		for (let n = 0; n < words; n += 2) {
			const at = row * words + n;
			let x = rows[at] ^ asked[n];
			let y = rows[at + 1] ^ asked[n + 1];
			x -= x >>> 1 & 1431655765;
			y -= y >>> 1 & 1431655765;
			x = (x & 858993459) + (x >>> 2 & 858993459) + (y & 858993459) + (y >>> 2 & 858993459);
			count += Math.imul((x & 252645135) + (x >>> 4 & 252645135), 16843009) >>> 24;
		}
		into[row] = count;
		histogram[count] = histogram[count] + 1;
	}
}
/** Returns at least the `wanted` nearest rows, nearest first, with all rows as near as the last of them. */
function nearest(distances, histogram, wanted) {globalThis.__t?.("memory/vector-math.js#nearest@3350");
	const places = new Uint32Array(histogram.length);
	let count = histogram[0];
	let furthest = 0;
	while (count < wanted && furthest < histogram.length - 1) {
		places[++furthest] = count;
		count += histogram[furthest];
	}
	const rows = new Int32Array(count);
	for (let row = 0; row < distances.length; row++) {
		const distance = distances[row];
		if (distance <= furthest) rows[places[distance]++] = row;
	}
	return rows;
}
/** The product of a query with the row that starts at `from`. Four sums, because the processor can add them in parallel. */
function dotProduct(query, rows, from) {globalThis.__t?.("memory/vector-math.js#dotProduct@3950");
	const size = query.length;
	const whole = size & -4;
	let a = 0;
	let b = 0;
	let c = 0;
	let d = 0;
	for (let n = 0; n < whole; n += 4) {
		a += query[n] * rows[from + n];
		b += query[n + 1] * rows[from + n + 1];
		c += query[n + 2] * rows[from + n + 2];
		d += query[n + 3] * rows[from + n + 3];
	}
	for (let n = whole; n < size; n++) a += query[n] * rows[from + n];
	return a + b + c + d;
}
/** The square of the length of a vector. */
function squareOf(vector) {globalThis.__t?.("memory/vector-math.js#squareOf@4432");
	return dotProduct(vector, vector, 0);
}
export { SignSketch, countDiffering, dotProduct, nearest, squareOf };
