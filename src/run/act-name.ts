/** `#n~attempt`, as it was told last: where very many act, one after another asks for the same. */
let lately = { n: 0, attempt: 1, text: "#0~1" };

/** `role#n~attempt`: names an activation, stable when roles are added. */
export function actName(role: string, n: number, attempt: number): string {
  if (lately.n !== n || lately.attempt !== attempt) lately = { n, attempt, text: `#${n}~${attempt}` };
  return role + lately.text;
}
