/** Stores of objects, for what moves with a run. Published as `troupe/objects`. */

export { type ObjectCall, type ObjectStore, ObjectStoreError, type PutOptions, type StoredObject } from "../kernel/object-store.ts";
export { fileObjects, type FileObjectsOptions } from "./file-objects.ts";
export { s3Objects, type S3Credentials, type S3ObjectsOptions } from "./s3-objects.ts";
