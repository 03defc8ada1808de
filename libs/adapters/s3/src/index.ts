export { S3Blobs, type S3Options } from './s3-blobs.js';
