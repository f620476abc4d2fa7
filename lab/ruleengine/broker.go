package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sys/unix"
)

// serveBroker returns the broker that the program brings along, until ctx ends.
// What it forgets it never had to write: it keeps everything in memory, and so
// would answer a commit at once. A real broker appends the commit to a log, and
// takes its time for that: latency.
func serveBroker(ctx context.Context, latency time.Duration, ready io.Writer) error {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.BrokerConfigs(map[string]string{"group.min.session.timeout.ms": "1000"}))
	if err != nil {
		return err
	}
	defer cluster.Close()
	if latency > 0 {
		cluster.ControlKey(int16(kmsg.OffsetCommit), func(kmsg.Request) (kmsg.Response, error, bool) {
			cluster.KeepControl()
			cluster.SleepControl(func() { sleep(latency) }) // other connections go on meanwhile
			return nil, nil, false
		})
	}
	fmt.Fprintln(ready, "ready", cluster.ListenAddrs()[0])
	<-ctx.Done()
	return nil
}

// sleep waits in the kernel: the runtime's timers round half a millisecond up
// to a whole one when nothing else is to be done.
func sleep(d time.Duration) {
	left := unix.NsecToTimespec(int64(d))
	for unix.Nanosleep(&left, &left) == unix.EINTR {
	}
}

// An admin looks after one topic and the group that reads it, which has the
// same name.
type admin struct {
	client *kgo.Client
	*kadm.Client
	topic string
}

// newAdmin makes the topic.
func newAdmin(ctx context.Context, c config) (*admin, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(c.brokers), kgo.RequestRetries(5), kgo.RetryTimeout(10*time.Second))
	if err != nil {
		return nil, err
	}
	a := &admin{client, kadm.NewClient(client), c.topic}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	if err := a.createTopic(ctx, c.partitions); err != nil {
		client.Close()
		return nil, fmt.Errorf("the broker %s: %w", c.brokers, err)
	}
	return a, nil
}

// makeTopic makes a topic that stays.
func makeTopic(ctx context.Context, c config, out io.Writer) error {
	a, err := newAdmin(ctx, c)
	if err != nil {
		return err
	}
	a.client.Close()
	fmt.Fprintf(out, "topic %s of %d partitions\n", c.topic, c.partitions)
	return nil
}

// createTopic makes the topic and waits until the broker knows it, which takes
// a real one a moment longer.
func (a *admin) createTopic(ctx context.Context, partitions int) error {
	if _, err := a.CreateTopic(ctx, int32(partitions), 1, nil, a.topic); err != nil {
		return err
	}
	for {
		topics, err := a.ListTopics(ctx, a.topic)
		if t := topics[a.topic]; err == nil && t.Err == nil && len(t.Partitions) == partitions &&
			!slices.ContainsFunc(t.Partitions.Sorted(), noLeader) {
			return nil
		}
		select {
		case <-time.After(poll):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// topicExists returns an error when there is no such topic: a reader would wait for it
// without a word.
func topicExists(ctx context.Context, c config) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(c.brokers), kgo.RequestRetries(5), kgo.RetryTimeout(10*time.Second))
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	topics, err := kadm.NewClient(client).ListTopics(ctx, c.topic)
	if err != nil {
		return fmt.Errorf("the broker %s: %w", c.brokers, err)
	}
	if !topics.Has(c.topic) || topics[c.topic].Err != nil {
		return fmt.Errorf("the broker %s has no topic %q\nhint: ruleengine -mode topic -topic %s -brokers %s", c.brokers, c.topic, c.topic, c.brokers)
	}
	return nil
}

// showLag prints what of a topic its group has not committed, by partition.
func showLag(ctx context.Context, c config, out io.Writer) error {
	if err := topicExists(ctx, c); err != nil {
		return err
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(c.brokers))
	if err != nil {
		return err
	}
	a := &admin{client, kadm.NewClient(client), c.topic}
	defer client.Close()
	ends, err := a.ListEndOffsets(ctx, c.topic)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return err
	}
	committed, err := a.committed(ctx, len(ends[c.topic]))
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "partition\tcommitted\tend\tlag\t")
	total := int64(0)
	for p, at := range committed {
		end := ends[c.topic][int32(p)].Offset
		total += end - at
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t\n", p, at, end, end-at)
	}
	fmt.Fprintf(w, "all\t\t\t%d\t\n", total)
	return w.Flush()
}

func noLeader(p kadm.PartitionDetail) bool { return p.Err != nil || p.Leader < 0 }

// poll is the distance at which the broker is asked whether something is so.
const poll = 10 * time.Millisecond

// close deletes the topic and its group.
func (a *admin) close() error {
	defer a.client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, _ = a.DeleteGroup(ctx, a.topic) // there is none when nobody joined
	_, err := a.DeleteTopic(ctx, a.topic)
	return err
}

// committed returns the offsets of the group by partition: messages that it has
// taken.
func (a *admin) committed(ctx context.Context, partitions int) ([]int64, error) {
	offsets := make([]int64, partitions)
	all, err := a.FetchOffsets(ctx, a.topic)
	if errors.Is(err, kerr.GroupIDNotFound) || errors.Is(err, kerr.CoordinatorNotAvailable) {
		return offsets, nil // nobody has read so far, or the broker has just begun
	}
	if err != nil {
		return nil, err
	}
	for p := range offsets {
		if o, ok := all.Lookup(a.topic, int32(p)); ok && o.Err == nil {
			offsets[p] = max(o.At, 0)
		}
	}
	return offsets, nil
}

// formed waits until the group has so many members, each with partitions of its
// own.
func (a *admin) formed(ctx context.Context, members int) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 20*time.Second, errors.New("the consumers did not form a group"))
	defer cancel()
	for {
		groups, err := a.DescribeGroups(ctx, a.topic)
		if g := groups[a.topic]; err == nil && g.Err == nil && g.State == "Stable" && assigned(g) == members {
			return nil
		}
		select {
		case <-time.After(poll):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// assigned counts the members that have partitions.
func assigned(g kadm.DescribedGroup) (n int) {
	for _, m := range g.Members {
		if a, ok := m.Assigned.AsConsumer(); ok && len(a.Topics) > 0 && len(a.Topics[0].Partitions) > 0 {
			n++
		}
	}
	return n
}
