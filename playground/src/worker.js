// One engine in a worker of its own. The first message brings the module, all others are questions.
import {Broken, engine} from './engine.js';

// A picture every so often, and never more than a fifth of the time for pictures.
let last = 0, cost = 0, current = null, asked;
const page = {
  due() {
    const now = performance.now();
    if (now - last < Math.max(120, 5 * cost)) return false;
    last = now;
    return true;
  },
  picture(svg, time) {
    cost = performance.now() - last;
    self.postMessage({id: current, picture: svg, time});
  },
};

self.onmessage = async ({data}) => {
  if (data.module) {
    asked = engine(data.module, page);
    return;
  }
  const {id, question} = data;
  try {
    const ask = await asked;
    current = id;
    last = performance.now();
    self.postMessage({id, answer: ask(question)});
  } catch (error) {
    self.postMessage({id, error: error.message, broken: error instanceof Broken});
  }
};
