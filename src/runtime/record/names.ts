/** `role#n~attempt`: the name of an activation, which stays the same when roles are added. */
export function activationId(role: string, sequence: number, attempt: number): string {
  return `${role}#${sequence}~${attempt}`;
}

/** `role#n.place`: the id of message number `place` of a role's activation number `n`, both counted from 0. */
export function messageId(role: string, sequence: number, place: number): string {
  return `${role}#${sequence}.${place}`;
}

/** The role in the name of an activation. */
export function roleNameIn(activation: string): string {
  return activation.slice(0, activation.lastIndexOf("#"));
}
