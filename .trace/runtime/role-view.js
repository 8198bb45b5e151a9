import { Plan } from "../role/plan.js";
// ../../work/wt/lead/src/runtime/role-view.ts
/** What a role holds now. */
function roleView(role, held) {globalThis.__t?.("runtime/role-view.js#roleView@117");
	const { name, custom, plan, open, waiting } = held;
	return {
		role,
		name,
		inbox: held.news(waiting),
		state: custom,
		isIdle: waiting === 0 && open === void 0,
		get memory() {globalThis.__t?.("runtime/role-view.js#memory get@330");
			return held.memory;
		},
		get workingMemory() {globalThis.__t?.("runtime/role-view.js#workingMemory get@382");
			return held.workingMemory;
		},
		get plan() {globalThis.__t?.("runtime/role-view.js#plan get@432");
			return Plan.fromJSON(plan.toJSON());
		}
	};
}
export { roleView };
