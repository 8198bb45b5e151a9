/** The roles of the shipped companies. Published as `troupe/roles`. */

export { waterfallCompany, type WaterfallCompanyOptions } from "./waterfall/waterfall-company.ts";
export { ProductManager } from "./waterfall/product-manager.ts";
export { Architect } from "./waterfall/architect.ts";
export { ProjectManager } from "./waterfall/project-manager.ts";
export { Engineer, type EngineerOptions } from "./waterfall/engineer.ts";
export { QaEngineer, type QaEngineerOptions } from "./waterfall/qa-engineer.ts";
