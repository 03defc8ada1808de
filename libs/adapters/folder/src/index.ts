export { FolderBlobs, type FolderOptions } from './folder-blobs.js';
