// A crew as a file: a reporter and an editor in YAML, opened by a program.
import { Team } from "troupe";
import { openCrew, readCrew } from "troupe/roles";
import { scriptedModel } from "troupe/testing";
import { chooseSandbox, memoryWorkspace } from "troupe/workspace";

// #region crew
const file = `
name: newsroom
roles:
  - name: Rita
    profile: Reporter
    actions:
      - { name: WriteDraft, prompt: "Write an article on: {{text}}" }
  - name: Emil
    profile: Editor
    actions:
      - { name: ReviewDraft, on: WriteDraft, prompt: "Review this draft: {{text}}", output: { verdict: { oneOf: [good, bad] } } }
`;
const { name, roles } = openCrew(await readCrew(file), { workspace: memoryWorkspace(), sandbox: await chooseSandbox("auto") });
const model = scriptedModel(["The week was dry.", '{ "verdict": "good" }']);
const { messages } = await new Team({ name, roles, model }).run("the weather of the week").result;
for (const { sentFrom, content } of messages.slice(1)) console.log(`${sentFrom}: ${content}`);
// Rita: The week was dry.
// Emil: verdict: good
// #endregion
