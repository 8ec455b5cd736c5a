//go:build e2e

package e2e_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// startAhead starts a program as on a host whose clock is ahead. Go asks the vDSO for the
// time, code that the kernel maps into each process. startAhead replaces that code before
// the program's first instruction.
func startAhead(cmd *exec.Cmd, ahead time.Duration) error {
	runtime.LockOSThread() // only the thread that starts a process may trace it
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr.Ptrace = true
	if err := cmd.Start(); err != nil {
		return err
	}
	pid := cmd.Process.Pid
	if _, err := syscall.Wait4(pid, nil, 0, nil); err != nil {
		return fmt.Errorf("wait for the program's first instruction: %w", err)
	}
	if err := shiftClock(pid, ahead); err != nil {
		return err
	}
	return syscall.PtraceDetach(pid)
}

// shiftClock replaces the clock of a stopped process.
func shiftClock(pid int, ahead time.Duration) error {
	start, image, err := readVDSO(pid)
	if err != nil {
		return err
	}
	file, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return err
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == "__vdso_clock_gettime" })
	if i < 0 {
		return errors.New("the vDSO has no __vdso_clock_gettime")
	}
	code := []byte{
		0xb8, 228, 0, 0, 0, // mov eax, clock_gettime
		0x0f, 0x05, // syscall
		0x85, 0xff, // test edi, edi: CLOCK_REALTIME is 0
		0x75, 0x07, // jne to the ret
		0x48, 0x81, 0x06, // add qword ptr [rsi], the seconds
	}
	code = append(binary.LittleEndian.AppendUint32(code, uint32(ahead/time.Second)), 0xc3) // ret
	_, err = syscall.PtracePokeText(pid, start+uintptr(symbols[i].Value), code)
	return err
}

// readVDSO returns the address and the content of a stopped process's vDSO.
func readVDSO(pid int) (start uintptr, image []byte, err error) {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 0, nil, err
	}
	for l := range strings.Lines(string(maps)) {
		if !strings.HasSuffix(l, "[vdso]\n") {
			continue
		}
		var end uintptr
		if _, err := fmt.Sscanf(l, "%x-%x", &start, &end); err != nil {
			return 0, nil, err
		}
		image = make([]byte, end-start)
		_, err = syscall.PtracePeekText(pid, start, image)
		return start, image, err
	}
	return 0, nil, errors.New("the process has no vDSO")
}
