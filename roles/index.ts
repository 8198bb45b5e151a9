/** The roles of the shipped companies. Published as `troupe/roles`. */

export { waterfallCompany, type WaterfallCompanyOptions } from "./waterfall/waterfall-company.ts";
export { ProductManager } from "./waterfall/product-manager.ts";
export { Architect } from "./waterfall/architect.ts";
export { ProjectManager } from "./waterfall/project-manager.ts";
export { Engineer, type EngineerOptions } from "./waterfall/engineer.ts";
export { QaEngineer, type QaEngineerOptions } from "./waterfall/qa-engineer.ts";

// A crew is a file.
export { type Crew, type CrewPorts, openCrew, readCrew } from "./crew/open-crew.ts";
export { CREW_TOOLS, crewJsonSchema, type CrewTool } from "./crew/crew-spec.ts";
export type { CrewAction, CrewField, CrewRole, CrewSpec, FieldKind } from "./crew/crew-spec.ts";
export { shippedCrews } from "./crew/shipped-crews.ts";
