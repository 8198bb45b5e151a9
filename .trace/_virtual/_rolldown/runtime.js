import "node:module";
export {};
