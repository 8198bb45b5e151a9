import { isObject } from "../kernel/value-kind.js";
import { readable, takes } from "../kernel/argument.js";
import { UsageError } from "../kernel/errors.js";
import { valueText } from "../kernel/value-text.js";
// ../../work/wt/lead/src/tool/tool-collection.ts
/**
* The tools of an agent by name.
*
* `ToolCollection.K1` two tools of one name are refused, and then nothing is added (`add`). `ToolCollection.K2` tools stand in the order
* they were added (`[Symbol.iterator]`). `ToolCollection.K3` a name finds a tool or nothing, also a name like `constructor` (`get`).
*/
var ToolCollection = class {
	#tools = /* @__PURE__ */ new Map();
	#specs;
	/** @throws UsageError as {@link add} does. */
	constructor(tools = []) {globalThis.__t?.("tool/tool-collection.js#constructor@709");
		takes("new ToolCollection", "tools", tools, readable);
		this.add(tools);
	}
	get size() {globalThis.__t?.("tool/tool-collection.js#size get@812");
		return this.names.length;
	}
	get names() {globalThis.__t?.("tool/tool-collection.js#names get@858");
		return [...this].map((tool) => (globalThis.__t?.("tool/tool-collection.js#anonymous@886"),(tool.name)));
	}
	/** The tools as models see them. */
	get specs() {globalThis.__t?.("tool/tool-collection.js#specs get@959");
		this.#specs ??= Object.freeze([...this.#tools.values()].map((tool) => (globalThis.__t?.("tool/tool-collection.js#anonymous@1026"),(tool.spec))));
		return this.#specs;
	}
	get(name) {globalThis.__t?.("tool/tool-collection.js#get@1078");
		return this.#tools.get(name);
	}
	has(name) {globalThis.__t?.("tool/tool-collection.js#has@1126");
		return this.get(name) !== void 0;
	}
	/** The tool that a model means: of that name, or the only one whose name differs in upper and lower case alone. */
	find(name) {globalThis.__t?.("tool/tool-collection.js#find@1296");
		const exact = this.#tools.get(name);
		if (exact !== void 0) return exact;
		const lower = name.toLowerCase();
		const alike = [...this.#tools.values()].filter((tool) => (globalThis.__t?.("tool/tool-collection.js#alike@1467"),(tool.name.toLowerCase() === lower)));
		return alike.length === 1 ? alike[0] : void 0;
	}
	/** @throws UsageError `TOOL_DUPLICATE` when a name is taken; `TOOL_INVALID` for what was not made by `defineTool`. */
	add(tools) {globalThis.__t?.("tool/tool-collection.js#add@1689");
		const more = isObject(tools) && Symbol.iterator in tools ? [...tools] : [tools];
		const taken = new Set(this.#tools.keys());
		for (const tool of more) {
			checkTool(tool);
			const { name } = tool;
			if (taken.has(name)) throw duplicate(name);
			taken.add(name);
		}
		for (const tool of more) this.#tools.set(tool.name, tool);
		this.#specs = void 0;
	}
	/** Returns true when there was a tool of that name. */
	remove(name) {globalThis.__t?.("tool/tool-collection.js#remove@2125");
		this.#specs = void 0;
		return this.#tools.delete(name);
	}
	[Symbol.iterator]() {globalThis.__t?.("tool/tool-collection.js#ToolCollection@2214");
		return [...this.#tools.values()][Symbol.iterator]();
	}
};
/** Programs without types pass objects that only look like tools. */
function checkTool(tool) {globalThis.__t?.("tool/tool-collection.js#checkTool@2350");
	if (typeof tool?.check === "function" && typeof tool.execute === "function" && tool.spec !== void 0) return;
	throw new UsageError("TOOL_INVALID", `Expected a tool as defineTool() gives it, got ${valueText(tool)}. Pass its parts to defineTool().`);
}
function duplicate(name) {globalThis.__t?.("tool/tool-collection.js#duplicate@2629");
	return new UsageError("TOOL_DUPLICATE", `Expected tools of different names, got two of the name "${name}". Rename one, or leave it out.`);
}
export { ToolCollection };
