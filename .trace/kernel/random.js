import { hash, randomBytes } from "node:crypto";
// ../../work/wt/lead/src/kernel/random.ts
/**
* A named stream of a seed: the same seed and path give the same numbers on every machine, and no stream moves another.
* The state of sfc32 (Chris Doty-Humphrey, PractRand) is taken from the sha256 of the path.
*/
function randomStream(seed, ...path) {globalThis.__t?.("kernel/random.js#randomStream@311");
	const digest = hash("sha256", JSON.stringify([seed, ...path]), "binary");
	return sfc32(int32At(digest, 0), int32At(digest, 4), int32At(digest, 8), 1);
}
/** What four bytes are as a number, the least of them first. */
function int32At(bytes, at) {globalThis.__t?.("kernel/random.js#int32At@570");
	return bytes.charCodeAt(at) | bytes.charCodeAt(at + 1) << 8 | bytes.charCodeAt(at + 2) << 16 | bytes.charCodeAt(at + 3) << 24;
}
function sfc32(one, two, three, from) {globalThis.__t?.("kernel/random.js#sfc32@730");
	let a = one;
	let b = two;
	let c = three;
	let counter = from;
	return () => {globalThis.__t?.("kernel/random.js#anonymous@843");
		const t = (a + b | 0) + counter | 0;
		counter = counter + 1 | 0;
		a = b ^ b >>> 9;
		b = c + (c << 3) | 0;
		c = c << 21 | c >>> 11;
		c = c + t | 0;
		return (t >>> 0) / 4294967296;
	};
}
/** Numbers that are thrown away before the first one: those of states that differ in a bit are alike until then. */
const STIRRED = 12;
/**
* As {@link randomStream}, for where each of very many activations has a stream of its own: it is made in a fraction of the time. The state of
* sfc32 is hashed by cyrb128 (bryc, public domain), which is no cryptography, and stirred as its author says.
*/
var LightStream = class {
	#a;
	#b;
	#c;
	#counter;
	constructor(seed, name, n) {globalThis.__t?.("kernel/random.js#constructor@1505");
		const mixer = new Cyrb128();
		mixer.add(`${n} ${name.length} `);
		mixer.add(name);
		mixer.add(seed);
		const [one, two, three, four] = mixer.mixed();
		let a = one ^ two ^ three ^ four;
		let b = one ^ two;
		let c = one ^ three;
		let counter = one ^ four;
		for (let stirred = 0; stirred < STIRRED; stirred += 1) {
			const t = (a + b | 0) + counter | 0;
			counter = counter + 1 | 0;
			a = b ^ b >>> 9;
			b = c + (c << 3) | 0;
			c = (c << 21 | c >>> 11) + t | 0;
		}
		this.#a = a;
		this.#b = b;
		this.#c = c;
		this.#counter = counter;
	}
	next() {globalThis.__t?.("kernel/random.js#next@2081");
		const b = this.#b;
		const c = this.#c;
		const t = (this.#a + b | 0) + this.#counter | 0;
		this.#counter = this.#counter + 1 | 0;
		this.#a = b ^ b >>> 9;
		this.#b = c + (c << 3) | 0;
		this.#c = (c << 21 | c >>> 11) + t | 0;
		return (t >>> 0) / 4294967296;
	}
};
var Cyrb128 = class {
	#a = 1779033703;
	#b = -1150833019;
	#c = 1013904242;
	#d = -1521486534;
	add(text) {globalThis.__t?.("kernel/random.js#add@2456");
		let a = this.#a;
		let b = this.#b;
		let c = this.#c;
		let d = this.#d;
		for (let place = 0; place < text.length; place += 1) {
			const code = text.charCodeAt(place);
			a = b ^ Math.imul(a ^ code, 597399067);
			b = c ^ Math.imul(b ^ code, 2869860233);
			c = d ^ Math.imul(c ^ code, 951274213);
			d = a ^ Math.imul(d ^ code, 2716044179);
		}
		this.#a = a;
		this.#b = b;
		this.#c = c;
		this.#d = d;
	}
	mixed() {globalThis.__t?.("kernel/random.js#mixed@2885");
		const a = Math.imul(this.#c ^ this.#a >>> 18, 597399067);
		const b = Math.imul(this.#d ^ this.#b >>> 22, 2869860233);
		return [
			a,
			b,
			Math.imul(a ^ this.#c >>> 17, 951274213),
			Math.imul(b ^ this.#d >>> 19, 2716044179)
		];
	}
};
/** A fresh seed of 16 hexadecimal digits from the machine's randomness. */
function freshSeed() {globalThis.__t?.("kernel/random.js#freshSeed@3211");
	return randomBytes(8).toString("hex");
}
export { LightStream, freshSeed, randomStream };
