// Workers, as something that can be asked and ended.

// Workers come from this one script and reports from our own module: the only strings that the page takes as more than text.
const trusted = self.trustedTypes?.createPolicy('playground', {createScriptURL: url => url, createHTML: html => html})
  ?? {createScriptURL: url => url, createHTML: html => html};
export const trustedReport = html => trusted.createHTML(html);

export class Helper {
  /** `module` is the promise of the compiled module, so that a worker that was ended is soon replaced. */
  constructor(module) {
    this.module = module;
    this.start();
  }
  start() {
    this.waiting = new Map();
    this.next = 0;
    const worker = new Worker(trusted.createScriptURL('worker.js'), {type: 'module'});
    this.worker = worker;
    worker.onmessage = ({data}) => this.worker === worker && this.hear(data);
    worker.onerror = event => this.worker === worker && this.end(event.message || 'the worker cannot be started');
    this.ready = this.module.then(module => { if (this.worker === worker) worker.postMessage({module}); });
  }
  hear(data) {
    const asked = this.waiting.get(data.id);
    if (!asked) return;
    if (data.picture !== undefined) return asked.picture?.(data.picture, data.time);
    this.waiting.delete(data.id);
    if (data.broken) {
      asked.no(new Error(data.error));
      this.end('the compiler was started again');
    } else if (data.error !== undefined) asked.no(new Error(data.error));
    else asked.yes(data.answer);
  }
  /** Asks; `picture(svg, time)` is called on the way. */
  async ask(question, picture) {
    await this.ready;
    return new Promise((yes, no) => {
      const id = this.next++;
      this.waiting.set(id, {yes, no, picture});
      this.worker.postMessage({id, question});
    });
  }
  /** Ends the worker whatever it does, and starts another. */
  end(why) {
    this.worker.terminate();
    const waiting = this.waiting;
    this.start();
    for (const {no} of waiting.values()) no(new Error(why));
  }
}
