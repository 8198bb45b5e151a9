import { UsageError } from "../../kernel/errors.js";
// ../../work/wt/lead/src/runtime/turn/activation-host.ts
/** @throws UsageError `DEPS_MISSING` always */
function missingDeps(role) {globalThis.__t?.("runtime/turn/activation-host.js#missingDeps@159");
	throw new UsageError("DEPS_MISSING", `Expected the team or the environment of ${role} to have deps, for ${role} asks for them, got none. Give new Team({ deps: { ... } }).`);
}
/** The environment's logger for a role. A warning is told to observers too. */
function loggerOf(host, role) {globalThis.__t?.("runtime/turn/activation-host.js#loggerOf@445");
	const { logger } = host;
	return {
		debug: (text) => (globalThis.__t?.("runtime/turn/activation-host.js#debug@522"),(logger.debug(text))),
		info: (text) => (globalThis.__t?.("runtime/turn/activation-host.js#info@560"),(logger.info(text))),
		warn: (text) => (globalThis.__t?.("runtime/turn/activation-host.js#warn@597"),(host.warn(role, text))),
		error: (text) => (globalThis.__t?.("runtime/turn/activation-host.js#error@639"),(logger.error(text)))
	};
}
/**
* Refuses a text that is too long for one message.
*
* @param limit characters
* @throws UsageError `MESSAGE_TOO_LONG`
*/
function assertMessageSize(content, limit, name) {globalThis.__t?.("runtime/turn/activation-host.js#assertMessageSize@800");
	if (typeof content !== "string" || content.length <= limit) return;
	throw new UsageError("MESSAGE_TOO_LONG", `Expected a message of at most ${limit} characters from ${name}, got ${content.length}. Write large results to a file and say where it is.`);
}
export { assertMessageSize, loggerOf, missingDeps };
