// ../../work/wt/lead/src/kernel/lazily.ts
/**
* Makes a value when it is first asked for, and gives the same one ever after: for values that are dear to make and seldom needed, such as a
* schema. What it was made of is let go.
*
* @returns gives the value; what `make` throws is thrown each time
*/
function lazily(make) {globalThis.__t?.("kernel/lazily.js#lazily@301");
	let left = make;
	let made;
	return () => {globalThis.__t?.("kernel/lazily.js#anonymous@362");
		if (left === void 0) return made;
		made = left();
		left = void 0;
		return made;
	};
}
/**
* Makes members of an object lazy. They stay own, enumerable and writable: whoever copies, compares, writes or prints the object sees values.
*
* @returns the object
*/
function lazyMembers(object, makers) {globalThis.__t?.("kernel/lazily.js#lazyMembers@634");
	for (const [key, make] of Object.entries(makers)) Object.defineProperty(object, key, {
		get: lazily(make),
		set: replacing(key),
		enumerable: true,
		configurable: true
	});
	return Object.defineProperty(object, Symbol.for("nodejs.util.inspect.custom"), { value: () => ((globalThis.__t?.("kernel/lazily.js#value@940"),({ ...object }))) });
}
/** A setter that puts a plain member in place of a lazy one. */
function replacing(key) {globalThis.__t?.("kernel/lazily.js#replacing@1033");
	return function(value) {globalThis.__t?.("kernel/lazily.js#anonymous@1067");
		Object.defineProperty(this, key, {
			value,
			writable: true,
			enumerable: true,
			configurable: true
		});
	};
}
export { lazily, lazyMembers };
