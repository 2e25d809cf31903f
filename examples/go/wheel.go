// SPDX-License-Identifier: MIT
package main

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// What linux/twheel.h declares of what is used here. A field has the name that it has there; the
// test compares.

type twheelWord struct {
	deadline uint64
	promise  uint64
}

type twheelEvent struct {
	id         uint32
	generation uint32
	cookie     uint64
	deadline   uint64
	fired      uint64
	overruns   uint64
	flags      uint32
	reserved   uint32
}

type twheelSetup struct {
	flags        uint32
	clock        uint32
	tick         uint64
	levels       uint32
	slots        uint32
	capacity     uint32
	event_size   uint32
	words_offset uint64
	now          uint64
	clock_offset uint64
}

type twheelOp struct {
	opcode     uint32
	flags      uint32
	deadline   uint64
	interval   uint64
	slack      uint64
	cookie     uint64
	count      uint32
	reserved   uint32
	id         uint32
	generation uint32
	state      uint32
	result     int32
}

const (
	twheelSetupWords = 1 << 1
	twheelArmStored  = 1 << 3
)

// Of ioctls that write what they are given.
func ior(nr, size uintptr) uintptr {
	return 2<<30 | size<<16 | 0xBB<<8 | nr
}

// Of those that read it, too.
func iowr(nr, size uintptr) uintptr {
	return 1<<30 | ior(nr, size)
}

var (
	twheelIocSetup    = iowr(1, unsafe.Sizeof(twheelSetup{}))
	twheelIocGetSetup = ior(2, unsafe.Sizeof(twheelSetup{}))
	twheelIocArm      = iowr(3, unsafe.Sizeof(twheelOp{}))
)

// Wheel is a wheel of /dev/twheel, whose timers are armed by their words. Any goroutine may call
// any method at any time, but for Close.
type Wheel struct {
	// Calls counts those that an arm has needed.
	Calls atomic.Uint64

	file   *os.File
	fd     uintptr
	memory []byte
	words  []twheelWord
	// The wheel's time less that of start.
	base  uint64
	start time.Time
}

// Open opens a wheel with timers of the ids below capacity.
func Open(path string, capacity uint32) (*Wheel, error) {
	// Non-blocking: then who waits in Read is parked by the runtime, and keeps no thread.
	fd, err := syscall.Open(path, syscall.O_RDWR|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	w := &Wheel{file: os.NewFile(uintptr(fd), path), fd: uintptr(fd)}
	if err := w.setUp(capacity); err != nil {
		w.Close()
		return nil, &os.PathError{Op: "set up", Path: path, Err: err}
	}
	return w, nil
}

func (w *Wheel) setUp(capacity uint32) error {
	setup := twheelSetup{flags: twheelSetupWords, capacity: capacity}
	if err := w.ioctl(twheelIocSetup, unsafe.Pointer(&setup)); err != nil {
		return err
	}
	// A setup takes the longer the more memory it takes; to ask for it takes no time.
	w.start = time.Now()
	if err := w.ioctl(twheelIocGetSetup, unsafe.Pointer(&setup)); err != nil {
		return err
	}
	w.base = setup.now
	size := int(setup.capacity) * int(unsafe.Sizeof(twheelWord{}))
	memory, err := syscall.Mmap(int(w.fd), int64(setup.words_offset), size,
		syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return err
	}
	w.memory = memory
	w.words = unsafe.Slice((*twheelWord)(unsafe.Pointer(&memory[0])), setup.capacity)
	return nil
}

// Close closes the wheel, which nobody may be using.
func (w *Wheel) Close() error {
	if w.memory != nil {
		if err := syscall.Munmap(w.memory); err != nil {
			return err
		}
	}
	return w.file.Close()
}

func (w *Wheel) ioctl(request uintptr, argument unsafe.Pointer) error {
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, w.fd, request, uintptr(argument))
	if errno != 0 {
		return errno
	}
	return nil
}

// Now tells the wheel's time. It is CLOCK_MONOTONIC, by which time.Since goes, too.
func (w *Wheel) Now() uint64 {
	return w.base + uint64(time.Since(w.start))
}

// Arm arms a timer, or moves it. Go's atomics are sequentially consistent, as the protocol of the
// words wants it: an exchange, then a load, and a call only if the kernel would look too late.
func (w *Wheel) Arm(id uint32, deadline uint64) error {
	word := &w.words[id]
	atomic.SwapUint64(&word.deadline, deadline)
	if deadline-1 >= atomic.LoadUint64(&word.promise)-1 {
		return nil
	}
	w.Calls.Add(1)
	op := twheelOp{flags: twheelArmStored, id: id}
	return w.ioctl(twheelIocArm, unsafe.Pointer(&op))
}

// Cancel makes sure that a timer is not armed.
func (w *Wheel) Cancel(id uint32) {
	atomic.StoreUint64(&w.words[id].deadline, 0)
}

// Read takes events, and waits for the first. What it returns is a part of events.
func (w *Wheel) Read(events []twheelEvent) ([]twheelEvent, error) {
	if len(events) == 0 {
		return nil, errors.New("no room for an event")
	}
	const size = unsafe.Sizeof(twheelEvent{})
	buffer := unsafe.Slice((*byte)(unsafe.Pointer(&events[0])), len(events)*int(size))
	n, err := w.file.Read(buffer)
	if err != nil {
		return nil, fmt.Errorf("take events: %w", err)
	}
	return events[:n/int(size)], nil
}
