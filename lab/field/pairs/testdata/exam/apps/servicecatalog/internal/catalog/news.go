package catalog

// News tell those who wait that there is something to look at. The lock of the store guards
// the channel.
type news struct{ ch chan struct{} }

func (n *news) publish() {
	close(n.ch)
	n.ch = make(chan struct{})
}
