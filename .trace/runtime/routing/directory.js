import "../../message/address.js";
// ../../work/wt/lead/src/runtime/routing/directory.ts
/** Names that the lists kept for causes and addresses may have together. */
const MOST_KEPT_NAMES = 1e6;
/**
* Finds the recipients of messages. It owns the indexes from addresses and causes to roles; routing is a pure function of these and the message.
*
* Directory.D1 (`#listOf`) finding the recipients of a message costs as much as it has recipients, however many roles there are: the list for a cause
* or an address is kept until somebody is hired. Directory.D2 (`add`) a hired role is one more in the group of its definition, however many
* addresses and causes that has.
*/
var Directory = class {
	#find;
	#groups = /* @__PURE__ */ new Map();
	#byAddress = /* @__PURE__ */ new Map();
	#byCause = /* @__PURE__ */ new Map();
	/** Groups that observe every broadcast. */
	#observers = [];
	#lists = /* @__PURE__ */ new Map();
	#keptNames = 0;
	/** @param find the hired role of a name */
	constructor(find) {globalThis.__t?.("runtime/routing/directory.js#constructor@997");
		this.#find = find;
	}
	/** @param listening one object for all roles of one definition */
	add(role, listening) {globalThis.__t?.("runtime/routing/directory.js#add@1102");
		(this.#groups.get(listening) ?? this.#newGroup(listening)).push(role);
		if (this.#lists.size > 0) this.#forgetLists();
	}
	/**
	* A message to an address reaches every role that has it. A broadcast reaches the roles that watch its cause or observe everything, but neither
	* its sender nor the role that publishes it in the sender's name.
	*
	* @param publisher the role that publishes it; default: its sender
	*/
	route(message, publisher = message.sentFrom) {globalThis.__t?.("runtime/routing/directory.js#route@1545");
		const { sendTo } = message;
		if (sendTo.length === 1) return this.#routeTo(sendTo[0], message, publisher);
		const routes = sendTo.map((address) => (globalThis.__t?.("runtime/routing/directory.js#routes@1725"),(this.#routeTo(address, message, publisher))));
		const names = new Set(routes.flatMap(({ to }) => (globalThis.__t?.("runtime/routing/directory.js#names@1822"),(to))));
		return {
			to: Object.freeze(this.#inHireOrder([...names])),
			dead: routes.flatMap(({ dead }) => (globalThis.__t?.("runtime/routing/directory.js#dead@1928"),(dead)))
		};
	}
	#routeTo(address, message, publisher) {globalThis.__t?.("runtime/routing/directory.js#routeTo@1965");
		if (address === "<none>") return {
			to: nobody,
			dead: nobody
		};
		if (address === "<all>") return {
			to: this.#watchers(message, publisher),
			dead: nobody
		};
		const name = address === "<self>" ? message.sentFrom : address;
		const groups = address === "<self>" ? void 0 : this.#byAddress.get(address);
		const to = groups === void 0 ? this.#named(name) : this.#listOf(`address ${address}`, groups, name);
		return to.length > 0 ? {
			to,
			dead: nobody
		} : {
			to: nobody,
			dead: Object.freeze([address])
		};
	}
	#named(name) {globalThis.__t?.("runtime/routing/directory.js#named@2540");
		return this.#find(name) === void 0 ? nobody : Object.freeze([name]);
	}
	#watchers({ causeBy, sentFrom }, publisher) {globalThis.__t?.("runtime/routing/directory.js#watchers@2633");
		const groups = this.#byCause.get(causeBy);
		const to = this.#listOf(groups === void 0 ? "everything" : `cause ${causeBy}`, [...groups ?? [], ...this.#observers]);
		if (!to.includes(sentFrom) && !to.includes(publisher)) return to;
		return Object.freeze(to.filter((name) => (globalThis.__t?.("runtime/routing/directory.js#anonymous@2937"),(name !== sentFrom && name !== publisher))));
	}
	/** @param name of a role that is in the list, too */
	#listOf(key, groups, name) {globalThis.__t?.("runtime/routing/directory.js#listOf@3056");
		const known = this.#lists.get(key);
		if (known !== void 0) return known;
		const own = name === void 0 ? void 0 : this.#find(name);
		const roles = /* @__PURE__ */ new Set([...groups.flat(), ...own === void 0 ? [] : [own]]);
		const list = Object.freeze([...roles].sort((a, b) => (globalThis.__t?.("runtime/routing/directory.js#list@3351"),(a.index - b.index))).map((role) => (globalThis.__t?.("runtime/routing/directory.js#list@3384"),(role.name))));
		this.#keptNames += list.length;
		if (this.#keptNames > MOST_KEPT_NAMES) this.#forgetLists();
		this.#lists.set(key, list);
		return list;
	}
	#forgetLists() {globalThis.__t?.("runtime/routing/directory.js#forgetLists@3564");
		this.#lists.clear();
		this.#keptNames = 0;
	}
	#inHireOrder(names) {globalThis.__t?.("runtime/routing/directory.js#inHireOrder@3631");
		const placeOf = (name) => (globalThis.__t?.("runtime/routing/directory.js#placeOf@3659"),(this.#find(name)?.index ?? 0));
		return names.sort((a, b) => (globalThis.__t?.("runtime/routing/directory.js#anonymous@3719"),(placeOf(a) - placeOf(b))));
	}
	#newGroup(listening) {globalThis.__t?.("runtime/routing/directory.js#newGroup@3768");
		const { addresses, watch, observeAll } = listening;
		const group = [];
		this.#groups.set(listening, group);
		for (const address of new Set(addresses)) if (address !== "") groupsAt(this.#byAddress, address).push(group);
		if (observeAll) this.#observers.push(group);
		else for (const cause of new Set(watch)) groupsAt(this.#byCause, cause).push(group);
		return group;
	}
};
const nobody = Object.freeze([]);
function groupsAt(index, key) {globalThis.__t?.("runtime/routing/directory.js#groupsAt@4196");
	const known = index.get(key);
	if (known !== void 0) return known;
	const groups = [];
	index.set(key, groups);
	return groups;
}
export { Directory };
