package timeline

import "sync"

// words gives texts a small number each; 0 is "". Beyond the last number all
// are one: the runtime has some forty reasons to wait.
type words struct {
	mu    sync.RWMutex
	list  []string
	index map[string]uint8
}

func newWords() *words { return &words{list: []string{""}, index: map[string]uint8{"": 0}} }

func (w *words) add(s string) uint8 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n, ok := w.index[s]; ok {
		return n
	}
	if len(w.list) > 255 {
		return 255
	}
	n := uint8(len(w.list))
	if n == 255 {
		s = "(other reasons)"
	}
	w.list = append(w.list, s)
	w.index[s] = n
	return n
}

func (w *words) text(n uint8) string {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if int(n) < len(w.list) {
		return w.list[n]
	}
	return ""
}
