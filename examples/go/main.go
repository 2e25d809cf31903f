// SPDX-License-Identifier: MIT

// Idle has 1,000 connections that talk for a while, each in a goroutine. Each message pushes the
// connection's timer back, with a store to memory that is shared with the kernel; and who is
// silent for too long is cut. It opens /dev/twheel itself: there is no C in it, and no library.
package main

import (
	"fmt"
	"math/rand"
	"os"
	"sync/atomic"
	"time"
)

const (
	connections = 1000
	idle        = 500 * time.Millisecond
)

var messages atomic.Uint64

// Connection is one of them; the id of its timer is its place in the table.
type Connection struct {
	// When the last message came.
	last atomic.Int64
	// It was cut.
	over atomic.Bool
}

// Talk receives some messages, and then no more.
func (c *Connection) talk(w *Wheel, id uint32, start time.Time, failed chan<- error) {
	for i := 0; i < 1+int(id)%20 && !c.over.Load(); i++ {
		messages.Add(1)
		c.last.Store(int64(time.Since(start)))
		if err := w.Arm(id, w.Now()+uint64(idle)); err != nil {
			failed <- fmt.Errorf("arm timer %d: %w", id, err)
			return
		}
		time.Sleep(time.Duration(rand.Int63n(int64(idle / 5))))
	}
}

// Cut takes the events of all connections, and counts those that come too early.
func cut(w *Wheel, table []Connection, start time.Time) (early int, err error) {
	room := make([]twheelEvent, 64)
	for left := len(table); left > 0; {
		events, err := w.Read(room)
		if err != nil {
			return early, err
		}
		for _, event := range events {
			c := &table[event.id]
			silent := time.Since(start) - time.Duration(c.last.Load())
			if silent < idle || event.fired < event.deadline {
				early++
			}
			// It may have been about to receive a message, and have another event.
			if !c.over.Swap(true) {
				left--
			}
		}
	}
	return early, nil
}

func run() error {
	w, err := Open("/dev/twheel", connections)
	if err != nil {
		return err
	}
	defer w.Close()
	table := make([]Connection, connections)
	failed := make(chan error)
	start := time.Now()
	for id := range table {
		go table[id].talk(w, uint32(id), start, failed)
	}
	early := 0
	go func() {
		var err error
		early, err = cut(w, table, start)
		failed <- err
	}()
	if err := <-failed; err != nil {
		return err
	}
	fmt.Printf("%d messages, %d system calls: %d cut, %d early\n", messages.Load(), w.Calls.Load(),
		connections, early)
	if early > 0 {
		return fmt.Errorf("%d were cut too early", early)
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "idle:", err)
		os.Exit(1)
	}
}
