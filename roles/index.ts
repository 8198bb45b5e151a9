/** The roles of the shipped companies. Published as `troupe/roles`. */

// The software company: its product is proven by running it.
export { companyRounds, softwareCompany, type SoftwareCompanyOptions } from "./company/software-company.ts";
export type { Delivery, Complaint, UnmergedTask } from "../actions/company/delivery.ts";
export { DeliverySchema } from "../actions/company/delivery.ts";
export type { Verifier } from "../src/checks/index.ts";
export type { DesignedFile, Size, SystemDesign, WorkOrder, WorkTask } from "../actions/company/work-order.ts";

// The waterfall of MetaGPT.
export { waterfallCompany, type WaterfallCompanyOptions } from "./waterfall/waterfall-company.ts";
export { ProductManager } from "./waterfall/waterfall-company.ts";
export { Architect } from "./waterfall/waterfall-company.ts";
export { ProjectManager } from "./waterfall/waterfall-company.ts";
export { Engineer, type EngineerOptions } from "./waterfall/waterfall-company.ts";
export { QaEngineer, type QaEngineerOptions } from "./waterfall/waterfall-company.ts";

// Small crews of MetaGPT's.
export { dataInterpreter, type DataInterpreterOptions } from "./data-interpreter.ts";
export { research, type ResearchOptions } from "./research.ts";

// A crew is a file.
export { type Crew, type CrewPorts, openCrew, readCrew } from "./crew/open-crew.ts";
export { CREW_TOOLS, crewJsonSchema, type CrewTool } from "./crew/crew-spec.ts";
export type { CrewAction, CrewField, CrewRole, CrewSpec, FieldKind } from "./crew/crew-spec.ts";
export { checkCrew, type CrewFinding, type CrewReport, type CrewToCheck } from "./crew/check-crew.ts";
export type { RoleBound } from "./crew/crew-bound.ts";
export { shippedCrews } from "./crew/shipped-crews.ts";
