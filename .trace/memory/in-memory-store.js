import { identityOf } from "./message-store.js";
// ../../work/wt/lead/src/memory/in-memory-store.ts
/** A {@link MessageStore} that lives as long as its process. Several storages may share one. */
function inMemoryStore() {globalThis.__t?.("memory/in-memory-store.js#inMemoryStore@198");
	return new InMemoryStore();
}
var InMemoryStore = class {
	#shelves = /* @__PURE__ */ new Map();
	state(roleId) {globalThis.__t?.("memory/in-memory-store.js#state@329");
		return this.#do(roleId, ({ last, removals }) => ((globalThis.__t?.("memory/in-memory-store.js#anonymous@366"),({
			last,
			removals
		}))));
	}
	add(roleId, messages) {globalThis.__t?.("memory/in-memory-store.js#add@428");
		return this.#do(roleId, (shelf) => (globalThis.__t?.("memory/in-memory-store.js#anonymous@475"),(messages.map((entry) => {globalThis.__t?.("memory/in-memory-store.js#anonymous@499");
			const identity = identityOf(entry.runId, entry.message.id);
			const held = shelf.places.get(identity);
			if (held !== void 0) return {
				place: held,
				isNew: false
			};
			const place = ++shelf.last;
			shelf.places.set(identity, place);
			shelf.messages.set(place, {
				...entry,
				place
			});
			return {
				place,
				isNew: true
			};
		}))));
	}
	async *read(roleId, after) {globalThis.__t?.("memory/in-memory-store.js#read@890");
		const messages = await this.#do(roleId, (shelf) => (globalThis.__t?.("memory/in-memory-store.js#messages@950"),([...shelf.messages.values()].filter(({ place }) => (globalThis.__t?.("memory/in-memory-store.js#anonymous@997"),(place > after))))));
		if (messages.length > 0) yield {
			messages,
			damaged: 0
		};
	}
	places(roleId) {globalThis.__t?.("memory/in-memory-store.js#places@1106");
		return this.#do(roleId, (shelf) => (globalThis.__t?.("memory/in-memory-store.js#anonymous@1143"),([...shelf.messages.keys()])));
	}
	remove(roleId, places) {globalThis.__t?.("memory/in-memory-store.js#remove@1193");
		return this.#do(roleId, (shelf) => {globalThis.__t?.("memory/in-memory-store.js#anonymous@1238");
			const gone = places.flatMap((place) => (globalThis.__t?.("memory/in-memory-store.js#gone@1282"),(shelf.messages.get(place) ?? [])));
			for (const { place, runId, message } of gone) {
				shelf.messages.delete(place);
				shelf.vectors.delete(place);
				shelf.places.delete(identityOf(runId, message.id));
			}
			shelf.removals += gone.length;
			return gone.length;
		});
	}
	async *readVectors(roleId, fingerprint, after) {globalThis.__t?.("memory/in-memory-store.js#readVectors@1591");
		const found = await this.#do(roleId, (shelf) => (globalThis.__t?.("memory/in-memory-store.js#found@1661"),([...shelf.vectors].filter(([place, kept]) => (globalThis.__t?.("memory/in-memory-store.js#anonymous@1698"),(place > after && kept.fingerprint === fingerprint))).map(([place, { vector }]) => ((globalThis.__t?.("memory/in-memory-store.js#anonymous@1772"),({
			place,
			vector: vector.slice()
		})))))));
		if (found.length > 0) yield found.sort((a, b) => (globalThis.__t?.("memory/in-memory-store.js#anonymous@1885"),(a.place - b.place)));
	}
	writeVectors(roleId, fingerprint, vectors) {globalThis.__t?.("memory/in-memory-store.js#writeVectors@1931");
		return this.#do(roleId, (shelf) => {globalThis.__t?.("memory/in-memory-store.js#anonymous@1990");
			for (const { place, vector } of vectors) if (shelf.messages.has(place)) shelf.vectors.set(place, {
				fingerprint,
				vector: vector.slice()
			});
		});
	}
	clearVectors(roleId) {globalThis.__t?.("memory/in-memory-store.js#clearVectors@2178");
		return this.#do(roleId, (shelf) => (globalThis.__t?.("memory/in-memory-store.js#anonymous@2215"),(shelf.vectors.clear())));
	}
	close() {globalThis.__t?.("memory/in-memory-store.js#close@2259");
		return Promise.resolve();
	}
	async #do(roleId, work) {globalThis.__t?.("memory/in-memory-store.js#do@2305");
		let shelf = this.#shelves.get(roleId);
		if (shelf === void 0) {
			shelf = {
				last: 0,
				removals: 0,
				messages: /* @__PURE__ */ new Map(),
				places: /* @__PURE__ */ new Map(),
				vectors: /* @__PURE__ */ new Map()
			};
			this.#shelves.set(roleId, shelf);
		}
		return work(shelf);
	}
};
export { inMemoryStore };
