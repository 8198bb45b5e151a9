import { bullets, sections } from "./markdown.ts";
import type { Prd } from "./prd.ts";
import type { ProjectFile } from "./project-files.ts";
import type { TaskPlan } from "./task-plan.ts";

/**
 * The `package.json` of a project. It says nothing of modules on purpose: then Node.js loads a page's classic scripts as they are, and
 * files with `import` or `export` as modules.
 */
export function manifestFile({ projectName }: Prd): ProjectFile {
  const manifest = { name: projectName, version: "0.1.0", private: true, scripts: { test: "node --test" } };
  return { path: "package.json", content: JSON.stringify(manifest, undefined, 2) };
}

/** A plain `README.md`. */
export function readmeFile(prd: Prd, tasks: TaskPlan): ProjectFile {
  const page = tasks.taskList.find((path) => /(^|\/)index\.html$/.test(path));
  const content = sections(prd.projectName, [
    ["What it is", prd.originalRequirements],
    ["Goals", bullets(prd.productGoals)],
    ["Use", page === undefined ? "" : `Open \`${page}\` in a browser.`],
    ["Test", tasks.testList.length === 0 ? "" : "With Node.js 20 or newer, in this folder:\n\n    node --test"],
    ["Files", bullets(tasks.logicAnalysis.map(({ file, description }) => `\`${file}\`: ${description}`))],
  ]);
  return { path: "README.md", content };
}
