import { untilAborted } from "../kernel/abort.ts";
import { shown } from "./screen/text.ts";
import type { Session } from "./session.ts";
import type { CompanySettings } from "./settings.ts";
import type { Sandbox, Refusal } from "../workspace/sandbox.ts";

/**
 * Where the tests of a project run, told where it is not what one would expect. What a model writes runs in bubblewrap or, unless the
 * user says otherwise, not at all. The bundled scripts are part of this package, so their tests run without it too.
 *
 * @throws ControlError when an interruption comes while bubblewrap is tried
 */
export async function sandboxFor(
  { screen, host, interruptions }: Session,
  settings: Pick<CompanySettings, "sandbox" | "runTests">,
  isScripted: boolean,
): Promise<Sandbox> {
  const { chooseSandbox } = await import("../workspace/choose-sandbox.ts");
  if (!settings.runTests) return chooseSandbox("none");
  const sandbox = await untilAborted(chooseSandbox(settings.sandbox), interruptions.signal);
  if (sandbox.kind === "none" && !isScripted) {
    screen.say(screen.style.warn("What the model writes runs without isolation, because of --sandbox none: it can do whatever you can."));
  }
  if (sandbox.kind !== "refused") return sandbox;
  if (isScripted && settings.sandbox === "auto") {
    screen.say(screen.style.faint("Bubblewrap does not work here; these tests are part of the bundled script and run without it."));
    return chooseSandbox("none");
  }
  const refusal = (await sandbox.run({ root: host.cwd, command: ["node"] })) as Refusal;
  screen.say(screen.style.warn(`The project's tests will not run: ${shown(refusal.reason)}. ${shown(refusal.hint)}`));
  return sandbox;
}
