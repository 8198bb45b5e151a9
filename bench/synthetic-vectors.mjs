// Directions that lie in groups of fewer dimensions than they have, with noise: kinder than random ones, not as kind as real ones.
import { randomStream } from "../dist/inside/kernel/random.js";

/** As many vectors as asked, one behind the other. The same stream always gives the same ones. */
export function syntheticVectors(count, dimensions, stream) {
  const base = randomStream("vectors", "base");
  const gauss = (random) => Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random());
  const rows = Array.from({ length: 32 }, () => Float32Array.from({ length: dimensions }, () => gauss(base)));
  const groups = Array.from({ length: 300 }, () => Float32Array.from({ length: 32 }, () => gauss(base)));
  const random = randomStream("vectors", stream);
  const all = new Float32Array(count * dimensions);
  for (let at = 0; at < all.length; at += dimensions) {
    const group = groups[Math.floor(random() * groups.length)];
    for (const [n, middle] of group.entries()) {
      const weight = middle + 0.7 * gauss(random);
      for (let d = 0; d < dimensions; d++) all[at + d] += weight * rows[n][d];
    }
    for (let d = 0; d < dimensions; d++) all[at + d] += 0.5 * gauss(random);
  }
  return all;
}

/** The keys of the `k` nearest by cosine, by the plainest of loops: what every index is measured against. */
export function nearestKeys(all, query, k) {
  const size = query.length;
  const scores = [];
  for (let key = 0; key < all.length / size; key++) {
    let [dot, square] = [0, 0];
    for (let d = 0; d < size; d++) {
      const value = all[key * size + d];
      dot += value * query[d];
      square += value * value;
    }
    scores.push({ key, score: dot / Math.sqrt(square) });
  }
  return scores
    .toSorted((a, b) => b.score - a.score || a.key - b.key)
    .slice(0, k)
    .map(({ key }) => key);
}
