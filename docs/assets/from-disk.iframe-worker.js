// Search runs in a worker, and browsers start none for a page that was opened from disk. There the script of the worker
// runs in a hidden frame instead. (The name of this file tells the offline plugin that it need not load a shim from
// another server.)
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.ready = new Promise((resolve) => {
        document.documentElement.append(frame);
        const inside = frame.contentWindow;
        const load = (source) => new Promise((loaded, failed) => {
          const script = frame.contentDocument.createElement("script");
          Object.assign(script, { src: source, onload: loaded, onerror: failed });
          frame.contentDocument.body.append(script);
        });
        inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        inside.importScripts = async (...sources) => { for (const source of sources) await load(source); };
        load(url).then(() => resolve(inside));
      });
    }

    postMessage(data) {
      this.ready.then((inside) => inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
