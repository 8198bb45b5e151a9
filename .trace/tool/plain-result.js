import { isRecord } from "../kernel/value-kind.js";
import { lazily } from "../kernel/lazily.js";
import { cutText, grouped } from "./cut-text.js";
import { plainValue, toldOf } from "./plain-value.js";
import { z } from "zod";
// ../../work/wt/lead/src/tool/plain-result.ts
const MAX_IMAGES = 16;
/** Longest picture that providers take, in characters of base64. */
const MAX_IMAGE = 7e6;
/** Longest data for programs, in characters. */
const MAX_DATA = 1e6;
const MAX_NOTE = 2e3;
const FIELDS = /* @__PURE__ */ new Set([
	"output",
	"error",
	"images",
	"system",
	"data"
]);
/** Half characters and the character 0, which servers and stores refuse. */
const BROKEN = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\u0000/g;
const imageSchema = lazily(() => (globalThis.__t?.("tool/plain-result.js#imageSchema@780"),(z.union([z.strictObject({
	mediaType: z.string().regex(/^image\/[\w.+-]{1,100}$/),
	data: z.base64().min(1).max(MAX_IMAGE)
}), z.strictObject({ url: z.string().max(MAX_IMAGE).regex(/^(?:https?:\/\/|data:image\/)/i) })]))));
/**
* The answer of a tool as a result of bounded size in plain JSON, whatever the answer is and does when it is read.
*
* @param limit most characters of the output and of the error
*/
function plainResult(answer, limit) {globalThis.__t?.("tool/plain-result.js#plainResult@1194");
	try {
		return isResult(answer) ? boundedResult(answer, limit) : outputOf(answer, limit);
	} catch (error) {
		return { error: cutText(`the tool's result cannot be read: ${wellFormed(toldOf(error))}`, limit) };
	}
}
/** The words of an error, cut and well-formed. */
function plainText(text, limit) {globalThis.__t?.("tool/plain-result.js#plainText@1500");
	return wellFormed(cutText(text, limit));
}
/** True for an object with an output, an error or pictures and no other members. Any other value is an output itself. */
function isResult(answer) {globalThis.__t?.("tool/plain-result.js#isResult@1700");
	if (!isRecord(answer)) return false;
	if (!Object.keys(answer).every((name) => (globalThis.__t?.("tool/plain-result.js#anonymous@1798"),(FIELDS.has(name))))) return false;
	const { output, error, images } = answer;
	if (error !== void 0 && error !== null && typeof error !== "string") return false;
	return output !== void 0 || typeof error === "string" || Array.isArray(images);
}
function boundedResult({ output, error, images, system, data }, limit) {globalThis.__t?.("tool/plain-result.js#boundedResult@2051");
	const pictures = picturesIn(images);
	const more = data === void 0 ? void 0 : plainValue(data, MAX_DATA);
	const notes = [
		...typeof system === "string" ? [wellFormed(system)] : [],
		...pictures.leftOut === 0 ? [] : [`${pictures.leftOut} pictures were left out: they are too large, too many, or none.`],
		...more?.isCut === true ? [`The data is longer than ${MAX_DATA} characters and was left out.`] : []
	];
	return {
		...outputOf(output, limit),
		...typeof error === "string" ? { error: plainText(error, limit) } : {},
		...pictures.kept.length === 0 ? {} : { images: pictures.kept },
		...notes.length === 0 ? {} : { system: cutText(notes.join("\n"), MAX_NOTE) },
		...more === void 0 || more.isCut ? {} : { data: more.value }
	};
}
function outputOf(output, limit) {globalThis.__t?.("tool/plain-result.js#outputOf@2867");
	if (output === void 0) return {};
	if (typeof output === "string") return { output: plainText(output, limit) };
	const { value, isCut } = plainValue(output, limit);
	if (typeof value === "string" && !isCut) return { output: plainText(value, limit) };
	const text = JSON.stringify(value, null, 2);
	if (isCut) return { output: `${text.slice(0, limit)}\n[cut: ${grouped(Math.min(limit, text.length))} characters shown, there is more]` };
	return { output: text.length <= limit ? value : cutText(text, limit) };
}
function picturesIn(images) {globalThis.__t?.("tool/plain-result.js#picturesIn@3414");
	if (!Array.isArray(images)) return {
		kept: [],
		leftOut: 0
	};
	const kept = images.slice(0, MAX_IMAGES).flatMap((image) => {globalThis.__t?.("tool/plain-result.js#kept@3561");
		const parsed = imageSchema().safeParse(image);
		return parsed.success ? [parsed.data] : [];
	});
	return {
		kept,
		leftOut: images.length - kept.length
	};
}
function wellFormed(text) {globalThis.__t?.("tool/plain-result.js#wellFormed@3737");
	return text.replace(BROKEN, "�");
}
export { plainResult, plainText };
