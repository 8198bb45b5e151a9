/** `role#n~attempt`: names an activation, stable when roles are added. */
export function actName(role: string, n: number, attempt: number): string {
  return `${role}#${n}~${attempt}`;
}
