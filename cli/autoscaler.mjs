#!/usr/bin/env node
// The command of the package. It is JavaScript because Node loads its TypeScript compiler for the
// first TypeScript module, before the cache of compiled modules is on (NODE_COMPILE_CACHE).
import { enableCompileCache } from 'node:module';

enableCompileCache();
await import('./main.ts');
