import { aFunction, aText, having, object, takes } from "../../kernel/argument.js";
// ../../work/wt/lead/src/testing/contracts/contract-kit.ts
const testKit = having("a test runner", "describe", "it", "expect");
/** @throws UsageError `ARGUMENT_INVALID` for what no contract can be checked with */
function checkContract(door, kit, name, make) {globalThis.__t?.("testing/contracts/contract-kit.js#checkContract@299");
	takes(door, "kit", kit, testKit);
	takes(door, "name", name, aText);
	takes(door, "make", make, aFunction);
}
/** The same for a contract that is told as an object. @throws UsageError `ARGUMENT_INVALID` */
function checkToldContract(door, kit, contract) {globalThis.__t?.("testing/contracts/contract-kit.js#checkToldContract@554");
	takes(door, "kit", kit, testKit);
	takes(door, "contract", contract, object("an object with a name and a way to make what is checked", { name: aText }));
}
export { checkContract, checkToldContract };
