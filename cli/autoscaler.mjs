#!/usr/bin/env node
// The command of the package. It is JavaScript because Node loads its TypeScript compiler for the
// first TypeScript module, before the cache of compiled modules is on (NODE_COMPILE_CACHE).
import './node-floor.mjs';
import module from 'node:module';

// a named import of this function would fail under Node 20, before the message
module.enableCompileCache();
await import('./main.ts');
