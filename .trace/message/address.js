import { isObject } from "../kernel/value-kind.js";
import { UsageError } from "../kernel/errors.js";
// ../../work/wt/lead/src/message/address.ts
/** Every role that watches the cause. */
const ROUTE_TO_ALL = "<all>";
/** The sender itself. */
const ROUTE_TO_SELF = "<self>";
/** Nobody: the message is only kept in the history. */
const ROUTE_TO_NONE = "<none>";
/** What causes a user's message. */
const UserRequirement = Object.freeze({ name: "UserRequirement" });
/**
* Returns the name behind an address: a string as it is, the `name` of an action or a role, the static `actionName` of a class or else the
* name of the class.
*
* @throws UsageError `ADDRESS_INVALID` for a value without a name.
* @example
* import { addressOf, defineAction } from "troupe";
*
* const Draft = defineAction({ name: "Draft", prompt: (ctx) => ctx.text });
* console.log(addressOf(Draft), addressOf("Ada")); // Draft Ada
*/
function addressOf(x) {globalThis.__t?.("message/address.js#addressOf@911");
	const name = nameIn(x);
	if (typeof name === "string") return name;
	throw new UsageError("ADDRESS_INVALID", `Expected an address (a name, an action, a role or an Action class), got ${x === null ? "null" : typeof x}.`);
}
function nameIn(x) {globalThis.__t?.("message/address.js#nameIn@1158");
	try {
		return isObject(x) ? x.name : nameOf(x);
	} catch {
		return;
	}
}
function nameOf(x) {globalThis.__t?.("message/address.js#nameOf@1255");
	if (typeof x === "string") return x;
	return isClass(x) ? x.actionName ?? x.name : void 0;
}
function isClass(x) {globalThis.__t?.("message/address.js#isClass@1370");
	return typeof x === "function";
}
export { ROUTE_TO_ALL, ROUTE_TO_NONE, ROUTE_TO_SELF, UserRequirement, addressOf };
