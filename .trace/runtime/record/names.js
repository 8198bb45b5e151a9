// ../../work/wt/lead/src/runtime/record/names.ts
/** `role#n~attempt`: the name of an activation, which stays the same when roles are added. */
function activationId(role, sequence, attempt) {globalThis.__t?.("runtime/record/names.js#activationId@145");
	return `${role}#${sequence}~${attempt}`;
}
/** `role#n.place`: the id of message number `place` of a role's activation number `n`, both counted from 0. */
function messageId(role, sequence, place) {globalThis.__t?.("runtime/record/names.js#messageId@350");
	return `${role}#${sequence}.${place}`;
}
/** The role in the name of an activation. */
function roleNameIn(activation) {globalThis.__t?.("runtime/record/names.js#roleNameIn@482");
	return activation.slice(0, activation.lastIndexOf("#"));
}
export { activationId, messageId, roleNameIn };
