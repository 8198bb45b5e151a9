import { UserRequirement } from "../message/address.js";
import { livesByDefault } from "../runtime/hired-roles.js";
import { roleSpec } from "../role/role-spec.js";
// ../../work/wt/lead/src/team/unheard-causes.ts
/** So many names are told at most. */
const SHOWN = 10;
/**
* Warnings of causes that somebody watches and nobody of the team can cause: mostly a name that was mistyped. Empty where a role is made by
* hand, because such a one may name any cause. A message from outside may come later, so that it is no error.
*
* @param said what comes from outside at the start
*/
function unheardCauses(roles, said) {globalThis.__t?.("team/unheard-causes.js#unheardCauses@582");
	const specs = roles.map(([name, role]) => ((globalThis.__t?.("team/unheard-causes.js#specs@645"),({
		name,
		spec: roleSpec(role)
	}))));
	if (!specs.every(({ spec }) => (globalThis.__t?.("team/unheard-causes.js#anonymous@721"),(livesByDefault(spec))))) return [];
	const causes = /* @__PURE__ */ new Set([UserRequirement.name]);
	for (const message of said) if (typeof message !== "string") causes.add(message.causeBy);
	for (const { name, spec } of specs) for (const cause of [
		name,
		spec.card.name,
		...spec.actions.map((action) => (globalThis.__t?.("team/unheard-causes.js#anonymous@1032"),(action.name)))
	]) causes.add(cause);
	return specs.flatMap(({ name, spec }) => (globalThis.__t?.("team/unheard-causes.js#anonymous@1102"),(spec.watch.filter((cause) => (globalThis.__t?.("team/unheard-causes.js#anonymous@1140"),(!causes.has(cause)))).map((cause) => (globalThis.__t?.("team/unheard-causes.js#anonymous@1175"),(`${name} watches "${cause}", which nobody of this team can cause. They can cause: ${listed([...causes])}.`))))));
}
function listed(names) {globalThis.__t?.("team/unheard-causes.js#listed@1298");
	return names.length <= SHOWN ? names.join(", ") : `${names.slice(0, SHOWN).join(", ")} and ${names.length - SHOWN} more`;
}
export { unheardCauses };
