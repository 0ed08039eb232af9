// Preloaded into the commands of the matrix: they must work offline. Local sockets stay allowed.
const { Socket } = require('node:net');

const connect = Socket.prototype.connect;
Socket.prototype.connect = function connectLocally(...args) {
  const [options] = Array.isArray(args[0]) ? args[0] : args;
  const path = typeof options === 'string' ? options : options?.path;
  // http passes null
  if (typeof path === 'string') return connect.apply(this, args);
  throw new Error(`this must work offline, but it connects to ${JSON.stringify(options)}`);
};
