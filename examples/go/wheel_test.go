// SPDX-License-Identifier: MIT
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// Are the structs as linux/twheel.h declares them? A C program tells.
func TestLayout(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("there is no C compiler")
	}
	var program, expected strings.Builder
	program.WriteString("#include <linux/twheel.h>\n#include <stddef.h>\n#include <stdio.h>\n" +
		"#define SIZE(s, f) sizeof(((struct s *)0)->f)\nint main(void)\n{\n")
	add := func(expression string, value uintptr) {
		fmt.Fprintf(&program, "printf(\"%%zu\\n\", (size_t)(%s));\n", expression)
		fmt.Fprintf(&expected, "%d\n", value)
	}
	for name, value := range map[string]any{
		"twheel_word": twheelWord{}, "twheel_event": twheelEvent{},
		"twheel_setup": twheelSetup{}, "twheel_op": twheelOp{},
	} {
		kind := reflect.TypeOf(value)
		add("sizeof(struct "+name+")", kind.Size())
		for i := 0; i < kind.NumField(); i++ {
			field := kind.Field(i)
			add("offsetof(struct "+name+", "+field.Name+")", field.Offset)
			add("SIZE("+name+", "+field.Name+")", field.Type.Size())
		}
	}
	add("TWHEEL_IOC_SETUP", twheelIocSetup)
	add("TWHEEL_IOC_GET_SETUP", twheelIocGetSetup)
	add("TWHEEL_IOC_ARM", twheelIocArm)
	add("TWHEEL_SETUP_WORDS", twheelSetupWords)
	add("TWHEEL_ARM_STORED", twheelArmStored)
	program.WriteString("return 0;\n}\n")

	source := filepath.Join(t.TempDir(), "layout.c")
	if err := os.WriteFile(source, []byte(program.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	binary := strings.TrimSuffix(source, ".c")
	// Of this tree, or as it is installed.
	out, err := exec.Command(cc, "-I", "../../uapi", "-o", binary, source).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err = exec.Command(binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	if string(out) != expected.String() {
		t.Errorf("in C:\n%sin Go:\n%s", out, expected.String())
	}
}

func TestMistakes(t *testing.T) {
	if _, err := Open("/nowhere/twheel", 1); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a device that is not there: %v", err)
	}
	if _, err := Open("/dev/null", 1); !errors.Is(err, syscall.ENOTTY) {
		t.Errorf("a file that is no wheel: %v", err)
	}
}

// A wheel; without the device the test is skipped.
func open(t *testing.T) *Wheel {
	w, err := Open("/dev/twheel", 16)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("there is no /dev/twheel")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// A setup that takes long does not put the wheel's time ahead of the clock's.
func TestNow(t *testing.T) {
	w, err := Open("/dev/twheel", 1<<20)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("there is no /dev/twheel")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	start := w.Now()
	var clock syscall.Timespec
	const monotonic = 1
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, monotonic,
		uintptr(unsafe.Pointer(&clock)), 0); errno != 0 {
		t.Fatal(errno)
	}
	if now, end := uint64(clock.Nano()), w.Now(); now+uint64(20*time.Millisecond) < start || now > end {
		t.Errorf("the wheel tells %d and then %d, and the clock %d in between", start, end, now)
	}
}

func TestArm(t *testing.T) {
	w := open(t)
	arm := func(id uint32, deadline uint64, calls uint64) {
		t.Helper()
		before := w.Calls.Load()
		if err := w.Arm(id, deadline); err != nil {
			t.Fatal(err)
		}
		if got := w.Calls.Load() - before; got != calls {
			t.Errorf("%d calls, not %d", got, calls)
		}
	}
	ms := uint64(time.Millisecond)
	now := w.Now()
	arm(1, now+1000*ms, 1)
	arm(1, now+2000*ms, 0)
	arm(1, now+100*ms, 1)
	arm(2, now+50*ms, 1)
	arm(2, now+150*ms, 0)
	arm(3, now+50*ms, 1)
	w.Cancel(3)
	for _, want := range []struct {
		id       uint32
		deadline uint64
	}{{1, now + 100*ms}, {2, now + 150*ms}} {
		events, err := w.Read(make([]twheelEvent, 1))
		if err != nil {
			t.Fatal(err)
		}
		if event := events[0]; event.id != want.id || event.deadline != want.deadline ||
			w.Now() < event.deadline {
			t.Errorf("%+v, not %+v", event, want)
		}
	}
	if err := w.file.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if events, err := w.Read(make([]twheelEvent, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v, %v: nothing is armed", events, err)
	}
	if _, err := w.Read(nil); err == nil {
		t.Error("a read without room")
	}
}
