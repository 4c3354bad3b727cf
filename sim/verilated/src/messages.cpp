// SPDX-License-Identifier: MIT OR Apache-2.0
// The functions that Verilator's runtime leaves to its user.
#include "lockstep/messages.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "verilated.h"

namespace lockstep {

static thread_local Messages* listener = nullptr;

Listening::Listening(Messages& messages) { listener = &messages; }
Listening::~Listening() { listener = nullptr; }

std::mutex& drawing() {
    static std::mutex mutex;
    return mutex;
}

}  // namespace lockstep

extern "C" int lockstep_print(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    int bytes = 0;
    if (lockstep::Messages* const messages = lockstep::listener) {
        char text[1024];
        bytes = std::vsnprintf(text, sizeof text, format, arguments);
        if (!messages->stopped) messages->text += text;
    } else {
        // Standard output belongs to the program.
        bytes = std::vfprintf(stderr, format, arguments);
    }
    va_end(arguments);
    return bytes;
}

// An assertion has failed; its text was printed before.
void vl_stop(const char* filename, int linenum, const char* hier) {
    if (lockstep::Messages* const messages = lockstep::listener) {
        messages->stopped = true;
    } else {
        vl_fatal(filename, linenum, hier, "Verilog $stop");
    }
}
