// ../../work/wt/lead/src/tool/cut-text.ts
/** Share of a cut text that is its beginning; the rest is its end, where errors stand. */
const HEAD = .7;
/**
* Cuts the middle of a text to `limit` characters, and puts a mark in its place: `[cut: 12,000 of 50,000 characters shown]`.
*/
function cutText(text, limit) {globalThis.__t?.("tool/cut-text.js#cutText@283");
	if (text.length <= limit) return text;
	const head = upTo(text, Math.ceil(limit * HEAD));
	const tail = onFrom(text, text.length - (limit - Math.ceil(limit * HEAD)));
	return `${head}\n${cutMark(head.length + tail.length, text.length)}\n${tail}`;
}
function cutMark(shown, of) {globalThis.__t?.("tool/cut-text.js#cutMark@565");
	return `[cut: ${grouped(shown)} of ${grouped(of)} characters shown]`;
}
/** A number with separators of thousands: 12,000. */
function grouped(count) {globalThis.__t?.("tool/cut-text.js#grouped@722");
	return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}
/** A text up to a place, or one less so that no character is halved. */
function upTo(text, end) {globalThis.__t?.("tool/cut-text.js#upTo@881");
	return text.slice(0, isLowHalf(text, end) ? end - 1 : end);
}
/** A text from a place on, or one more so that no character is halved. */
function onFrom(text, start) {globalThis.__t?.("tool/cut-text.js#onFrom@1046");
	return text.slice(isLowHalf(text, start) ? start + 1 : start);
}
function isLowHalf(text, place) {globalThis.__t?.("tool/cut-text.js#isLowHalf@1143");
	return /^[\udc00-\udfff]/.test(text.charAt(place)) && /^[\ud800-\udbff]/.test(text.charAt(place - 1));
}
export { cutText, grouped, onFrom, upTo };
