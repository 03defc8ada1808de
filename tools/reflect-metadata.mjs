// Decorators need it before anything else; the order between files of a program is esbuild's, so every file imports it.
import 'reflect-metadata';
